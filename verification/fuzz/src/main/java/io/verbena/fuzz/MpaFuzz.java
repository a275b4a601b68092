// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.verbena.emulated.iwarp.frame.MpaFault;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import java.nio.ByteBuffer;

/** Fuzzes the parser of MPA frames, with which any host may begin an iWARP stream. */
public final class MpaFuzz {
  private MpaFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    ByteBuffer bytes = ByteBuffer.wrap(data);
    for (MpaFrame.Kind kind : MpaFrame.Kind.values()) {
      MpaFault fault = MpaFrame.check(kind, bytes);
      Claim.that(bytes.remaining() == data.length, "checking moves nothing");
      if (fault == MpaFault.NONE) {
        MpaFrame read = MpaFrame.parse(kind, bytes);
        Claim.that(bytes.remaining() == data.length, "reading moves nothing");
        Claim.that(MpaFrame.length(bytes) <= MpaFrame.MAX_LENGTH, "no longer than a frame");
        Claim.that(MpaFrame.parse(kind, read.bytes()).equals(read), "written, it is the same");
      }
    }
  }
}
