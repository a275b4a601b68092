// SPDX-License-Identifier: Apache-2.0
/** Vert.x over RDMA, by the transport {@link io.verbena.vertx.RdmaVertxTransport}. */
@NullMarked
package io.verbena.vertx;

import org.jspecify.annotations.NullMarked;
