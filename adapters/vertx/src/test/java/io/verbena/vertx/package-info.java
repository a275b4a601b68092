// SPDX-License-Identifier: Apache-2.0
/** Programs of Vert.x over RDMA. */
@NullMarked
package io.verbena.vertx;

import org.jspecify.annotations.NullMarked;
