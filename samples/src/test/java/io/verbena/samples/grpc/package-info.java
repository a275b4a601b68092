// SPDX-License-Identifier: Apache-2.0
/** Tests of what the sample of quotes over gRPC promises, over RDMA and over TCP. */
@NullMarked
package io.verbena.samples.grpc;

import org.jspecify.annotations.NullMarked;
