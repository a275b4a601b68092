// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.verbena.RejectReason;
import io.verbena.netty.wire.Handshake;
import io.verbena.netty.wire.Rejection;
import java.nio.ByteBuffer;

/** Fuzzes the private data with which Netty channels connect and accept. */
public final class NettyHandshakeFuzz {
  private NettyHandshakeFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    ByteBuffer bytes = ByteBuffer.wrap(data);
    Handshake read = Handshake.decode(bytes);
    RejectReason reason = Rejection.decode(bytes);
    if (reason != null) {
      Claim.that(reason.equals(Rejection.decode(Rejection.encode(reason))), "so can a reason");
    }
    Claim.that(bytes.position() == 0, "reading moves nothing");
    if (read != null) {
      Claim.that(read.port() >= 0 && read.port() < 1 << 16, "a port that is one");
      Claim.that(
          read.piece() >= Handshake.LEAST_PIECE && read.piece() <= 1 << 20, "a bounded piece");
      Claim.that(
          read.receives() >= Handshake.LEAST_RECEIVES && read.receives() <= Handshake.MOST_RECEIVES,
          "a bounded number of receives");
      Claim.that(read.equals(Handshake.decode(read.encode())), "what was read can be written");
    }
  }
}
