// SPDX-License-Identifier: Apache-2.0
/**
 * JMH benchmarks of single calls, for {@code -prof gc} and for profiling; the benchmark runner
 * makes the table of comparisons.
 */
@NullMarked
package io.verbena.benchmarks.jmh;

import org.jspecify.annotations.NullMarked;
