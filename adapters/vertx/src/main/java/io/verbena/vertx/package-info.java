// SPDX-License-Identifier: Apache-2.0
/** Vert.x over RDMA: {@link io.verbena.vertx.RdmaVertxTransport} is its transport. */
@NullMarked
package io.verbena.vertx;

import org.jspecify.annotations.NullMarked;
