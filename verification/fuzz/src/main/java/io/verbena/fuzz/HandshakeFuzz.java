// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.verbena.core.cm.ProgramPrivateData;
import io.verbena.reactor.wire.Handshake;
import io.verbena.reactor.wire.ProtocolException;
import java.nio.ByteBuffer;

/** Fuzzes the reactive layer's private data of connect and accept. */
public final class HandshakeFuzz {
  private HandshakeFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    ByteBuffer bytes = ByteBuffer.wrap(data);
    Handshake read;
    try {
      read = Handshake.decode(bytes);
    } catch (ProtocolException e) {
      Claim.that(e.getMessage() != null, "an error says what is wrong");
      return;
    }
    Claim.that(bytes.position() == 0, "reading moves nothing");
    Claim.that(read.version() == Handshake.VERSION, "a version that is spoken here");
    Claim.that(read.eagerSize() >= 64 && read.eagerSize() <= 1 << 20, "a bounded eager size");
    Claim.that(read.first() >= 4 && read.first() <= read.receiveDepth(), "a bounded grant");
    Claim.that(read.receiveDepth() >= 4 && read.receiveDepth() <= 1 << 20, "a bounded depth");
    Claim.that(read.window() >= 1 && read.window() <= 1 << 20, "a bounded window");
    Claim.that(read.maxMessageSize() >= 0, "a length that is one");
    Claim.that(Handshake.decode(read.encode()).equals(read), "what was read can be written");
    ByteBuffer program = ProgramPrivateData.read(bytes, Handshake.LENGTH);
    if (program != null) {
      ByteBuffer written = ProgramPrivateData.append(read.encode(), program);
      Claim.that(
          program.equals(ProgramPrivateData.read(written, Handshake.LENGTH)),
          "a program's bytes that were read can be written");
    }
  }
}
