// SPDX-License-Identifier: Apache-2.0
/** Simulates programs that use the verbs SPI, and checks each completion against a model. */
@NullMarked
package io.verbena.simulation.verbs;

import org.jspecify.annotations.NullMarked;
