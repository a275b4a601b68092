// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.simulation;

import org.jspecify.annotations.NullMarked;
