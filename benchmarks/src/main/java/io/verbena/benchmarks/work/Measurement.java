// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.util.List;

/**
 * The measured figures of a case.
 *
 * @param values one figure per repetition, in the workload's unit
 * @param p99 the 99th percentile per repetition where the values are 50th percentiles, else empty
 * @param bytesPerOperation bytes allocated by all threads, per operation; NaN if not measured
 */
public record Measurement(List<Double> values, List<Double> p99, double bytesPerOperation) {}
