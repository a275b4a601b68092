// SPDX-License-Identifier: Apache-2.0
/**
 * What the layers of Java cost on Linux's own RDMA stack: the same two jobs through each of them
 * and through perftest, which is in C, in two processes on two nodes.
 */
@NullMarked
package io.verbena.benchmarks.cost;

import org.jspecify.annotations.NullMarked;
