// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.simulation.reactive;

import org.jspecify.annotations.NullMarked;
