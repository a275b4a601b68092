// SPDX-License-Identifier: Apache-2.0
/**
 * Measures the cost of Java layers on Linux's own RDMA stack: runs the same jobs through each layer
 * and through perftest, which is written in C, in two processes on two nodes.
 */
@NullMarked
package io.verbena.benchmarks.cost;

import org.jspecify.annotations.NullMarked;
