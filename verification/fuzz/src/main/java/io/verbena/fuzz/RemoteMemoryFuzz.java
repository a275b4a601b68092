// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.MalformedTokenException;
import io.verbena.RemoteMemory;

/** Fuzzes the parser of remote memory tokens. */
public final class RemoteMemoryFuzz {
  private RemoteMemoryFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    ByteBuf in = Unpooled.wrappedBuffer(data);
    RemoteMemory token;
    try {
      token = RemoteMemory.decode(in);
    } catch (MalformedTokenException e) {
      Claim.that(e.getMessage() != null, "an error says what is wrong");
      Claim.that(in.readerIndex() == 0, "a malformed token is left alone");
      return;
    }
    Claim.that(in.readerIndex() == RemoteMemory.ENCODED_LENGTH, "a token is taken whole");
    Claim.that(token.length() >= 0, "a length that is one");
    ByteBuf out = Unpooled.buffer(RemoteMemory.ENCODED_LENGTH);
    token.encode(out);
    Claim.that(out.equals(in.slice(0, RemoteMemory.ENCODED_LENGTH)), "the same token again");
  }
}
