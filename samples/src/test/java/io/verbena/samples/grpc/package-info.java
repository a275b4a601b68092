// SPDX-License-Identifier: Apache-2.0
/** Tests of the sample of quotes over gRPC, over RDMA and over TCP. */
@NullMarked
package io.verbena.samples.grpc;

import org.jspecify.annotations.NullMarked;
