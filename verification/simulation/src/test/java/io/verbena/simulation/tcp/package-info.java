// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.simulation.tcp;

import org.jspecify.annotations.NullMarked;
