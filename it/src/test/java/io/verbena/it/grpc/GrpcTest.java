// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.grpc;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.guest.LeftOut;
import org.junit.jupiter.api.Tag;

/** Runs gRPC's own interop suite without TLS, and our tests of gRPC, on {@code disni://}. */
@Tag("once")
@InSoftRoceGuest(
    packages = "io.verbena.grpc",
    without = {
      @LeftOut(
          tests = "io.verbena.grpc.TlsInteropSuiteTest",
          reason = "the same calls; how TLS goes on rxe is told by Netty's own tests of it"),
      @LeftOut(
          tests = "io.verbena.grpc.KeepAliveTest",
          reason = "10 s of gRPC's own patience, in which the HCA has no part")
    })
class GrpcTest {}
