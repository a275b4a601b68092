// SPDX-License-Identifier: Apache-2.0
/** gRPC on Linux's own RDMA stack. */
@NullMarked
package io.verbena.it.grpc;

import org.jspecify.annotations.NullMarked;
