// SPDX-License-Identifier: Apache-2.0
/**
 * Vert.x's own tests, from its published jar, over RDMA: {@code bin/suite vertx} runs them, and the
 * build some of them. What is run, and what is left out and why, stands in {@code src/test/suite}.
 */
@NullMarked
package io.verbena.vertxsuite;

import org.jspecify.annotations.NullMarked;
