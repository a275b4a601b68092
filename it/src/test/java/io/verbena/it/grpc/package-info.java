/** gRPC on Linux's own RDMA stack. */
@NullMarked
package io.verbena.it.grpc;

import org.jspecify.annotations.NullMarked;
