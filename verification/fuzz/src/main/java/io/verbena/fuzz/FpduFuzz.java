// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.verbena.emulated.iwarp.frame.AtomicRequest;
import io.verbena.emulated.iwarp.frame.FpduFault;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.FpduLayout;
import io.verbena.emulated.iwarp.frame.RdmapOpcode;
import io.verbena.emulated.iwarp.frame.ReadRequest;
import io.verbena.emulated.iwarp.frame.Terminate;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import java.nio.ByteBuffer;

/** Fuzzes the parsers of FPDU headers, and of payloads that have a layout. */
public final class FpduFuzz {
  private static final FpduHeader HEADER = new FpduHeader();
  private static final ReadRequest REQUEST = new ReadRequest();
  private static final AtomicRequest ATOMIC = new AtomicRequest();
  private static final ByteBuffer OUT = ByteBuffer.allocate(128);

  private FpduFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    ByteBuffer bytes = ByteBuffer.wrap(data);
    if (data.length < FpduHeader.LEAST || data.length < FpduHeader.length(bytes, 0)) {
      return;
    }
    int length = FpduHeader.length(bytes, 0);
    if (HEADER.parse(bytes, 0) != FpduFault.NONE) {
      return;
    }
    Claim.that(HEADER.payloadLength() >= 0, "a length");
    Claim.that((length + HEADER.payloadLength() + HEADER.pad()) % 4 == 0, "whole words");
    HEADER.write(OUT.clear());
    Claim.that(OUT.position() == length, "as long");
    FpduHeader again = new FpduHeader();
    Claim.that(again.parse(OUT, 0) == FpduFault.NONE, "what was read can be written");
    Claim.that(
        again.opcode() == HEADER.opcode() && again.isLast() == HEADER.isLast(), "the same kind");
    Claim.that(again.payloadLength() == HEADER.payloadLength(), "the same length");
    Claim.that(fields(OUT, length).equals(fields(bytes, length)), "the same bytes");
    int payload = data.length - length;
    if (HEADER.opcode() == RdmapOpcode.TERMINATE) {
      TerminateCause cause = Terminate.parse(bytes, length, payload);
      int end = Terminate.write(cause, HEADER, OUT.clear(), 0);
      Claim.that(end <= Terminate.MAX_LENGTH, "no longer than it says");
      Claim.that(Terminate.parse(OUT, 0, end) == cause, "the same cause");
    } else if (HEADER.opcode() == RdmapOpcode.READ_REQUEST
        && payload >= FpduLayout.READ_REQUEST_LENGTH) {
      REQUEST.parse(bytes, length);
      Claim.that(REQUEST.length() >= 0, "an unsigned length");
      REQUEST.write(OUT.clear());
      Claim.that(
          OUT.flip().equals(bytes.slice(length, FpduLayout.READ_REQUEST_LENGTH)), "the same bytes");
    } else if (HEADER.opcode() == RdmapOpcode.ATOMIC_REQUEST
        && payload >= FpduLayout.ATOMIC_REQUEST_LENGTH) {
      atomic(bytes, length);
    }
  }

  /** Returns the header without the leading bytes that have reserved bits. */
  private static ByteBuffer fields(ByteBuffer header, int length) {
    return header.slice(FpduHeader.LEAST, length - FpduHeader.LEAST);
  }

  private static void atomic(ByteBuffer bytes, int at) {
    ATOMIC.parse(bytes, at);
    ATOMIC.write(OUT.clear());
    Claim.that(OUT.position() == FpduLayout.ATOMIC_REQUEST_LENGTH, "as long as a request");
    AtomicRequest again = new AtomicRequest();
    again.parse(OUT, 0);
    Claim.that(again.operation() == ATOMIC.operation(), "the same operation");
    Claim.that(again.tag() == ATOMIC.tag() && again.offset() == ATOMIC.offset(), "the same place");
    if (ATOMIC.operation() != null) {
      long original = ATOMIC.compare();
      Claim.that(again.after(original) == ATOMIC.after(original), "the same result");
    }
  }
}
