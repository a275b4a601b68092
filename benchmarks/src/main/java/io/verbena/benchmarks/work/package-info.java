// SPDX-License-Identifier: Apache-2.0
/**
 * The workloads: what each participant has to do, the contents and the checks that all of them
 * share, and the clocks, gauges and counters that they are measured with.
 */
@NullMarked
package io.verbena.benchmarks.work;

import org.jspecify.annotations.NullMarked;
