// SPDX-License-Identifier: Apache-2.0
/**
 * The cost of the layers of Java on Linux's own RDMA stack: the same two jobs through each of them
 * and through perftest, which is in C, in two processes on two nodes.
 */
@NullMarked
package io.verbena.benchmarks.cost;

import org.jspecify.annotations.NullMarked;
