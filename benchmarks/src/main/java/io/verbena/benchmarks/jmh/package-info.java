// SPDX-License-Identifier: Apache-2.0
/**
 * JMH benchmarks of single calls, for {@code -prof gc} and for finding out where time goes; the
 * table of comparisons is the runner's.
 */
@NullMarked
package io.verbena.benchmarks.jmh;

import org.jspecify.annotations.NullMarked;
