// SPDX-License-Identifier: Apache-2.0
/** Tests of Vert.x programs over RDMA. */
@NullMarked
package io.verbena.vertx;

import org.jspecify.annotations.NullMarked;
