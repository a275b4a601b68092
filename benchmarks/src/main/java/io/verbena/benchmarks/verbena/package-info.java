// SPDX-License-Identifier: Apache-2.0
/** Verbena's own participants: the verbs SPI on its own, and the reactive transport on top. */
@NullMarked
package io.verbena.benchmarks.verbena;

import org.jspecify.annotations.NullMarked;
