// SPDX-License-Identifier: Apache-2.0
/**
 * The benchmark runner: one JVM per case, one table. The workloads are in {@code work}, the limits
 * and the peers in {@code peers}.
 */
@NullMarked
package io.verbena.benchmarks;

import org.jspecify.annotations.NullMarked;
