// SPDX-License-Identifier: Apache-2.0
/**
 * The workloads: the interfaces of participants, the shared contents and checks of messages, and
 * the clocks, gauges and counters of the measurements.
 */
@NullMarked
package io.verbena.benchmarks.work;

import org.jspecify.annotations.NullMarked;
