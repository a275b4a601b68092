// SPDX-License-Identifier: Apache-2.0
/** gRPC over RDMA, by its own suite and by what that does not ask for. */
package io.verbena.grpc;
