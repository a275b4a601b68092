// SPDX-License-Identifier: Apache-2.0
/** Verbena's own participants: the verbs SPI, and the reactive transport above it. */
@NullMarked
package io.verbena.benchmarks.verbena;

import org.jspecify.annotations.NullMarked;
