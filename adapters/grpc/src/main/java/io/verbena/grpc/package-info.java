// SPDX-License-Identifier: Apache-2.0
/** gRPC over RDMA: gRPC's own builders with the channels of {@link io.verbena.netty}. */
@NullMarked
package io.verbena.grpc;

import org.jspecify.annotations.NullMarked;
