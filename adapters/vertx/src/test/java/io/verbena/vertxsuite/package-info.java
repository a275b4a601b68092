// SPDX-License-Identifier: Apache-2.0
/**
 * Vert.x's own tests, from its published jar, over RDMA. {@code bin/suite vertx} runs them, and the
 * build runs some of them. {@code src/test/suite} lists the tests that run, and those that are
 * excluded, with the reasons.
 */
@NullMarked
package io.verbena.vertxsuite;

import org.jspecify.annotations.NullMarked;
