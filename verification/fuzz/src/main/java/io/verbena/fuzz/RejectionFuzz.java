// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.verbena.RejectReason;
import io.verbena.core.cm.ProgramPrivateData;
import io.verbena.reactor.wire.ProtocolException;
import io.verbena.reactor.wire.Rejection;
import java.nio.ByteBuffer;

/** Fuzzes the parser of a reject's private data. */
public final class RejectionFuzz {
  private RejectionFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    ByteBuffer bytes = ByteBuffer.wrap(data);
    Rejection read;
    try {
      read = Rejection.decode(bytes);
    } catch (ProtocolException e) {
      Claim.that(e.getMessage() != null, "an error says what is wrong");
      return;
    }
    Claim.that(bytes.position() == 0, "reading moves nothing");
    Claim.that(Rejection.decode(read.encode()).equals(read), "what was read can be written");
    RejectReason reason = ProgramPrivateData.readReason(bytes, Rejection.LENGTH);
    if (reason != null) {
      ByteBuffer written = ProgramPrivateData.append(read.encode(), reason);
      Claim.that(
          reason.equals(ProgramPrivateData.readReason(written, Rejection.LENGTH)),
          "a reason that was read can be written");
    }
  }
}
