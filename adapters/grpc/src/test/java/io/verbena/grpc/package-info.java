// SPDX-License-Identifier: Apache-2.0
/** Tests of gRPC over RDMA: gRPC's own suite, and cases that the suite does not cover. */
package io.verbena.grpc;
