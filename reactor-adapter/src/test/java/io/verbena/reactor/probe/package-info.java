// SPDX-License-Identifier: Apache-2.0
/** A quick look at speed while working on it; the figures that count come from benchmarks/. */
@NullMarked
package io.verbena.reactor.probe;

import org.jspecify.annotations.NullMarked;
