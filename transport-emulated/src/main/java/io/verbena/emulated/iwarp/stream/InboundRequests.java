// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.iwarp.frame.AtomicRequest;
import io.verbena.emulated.iwarp.frame.FpduLayout;
import io.verbena.emulated.iwarp.frame.ReadRequest;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.emulated.iwarp.stream.Placement.Use;
import java.nio.ByteBuffer;

/**
 * The peer's requests for READs and atomics, which are numbered together since they share a queue
 * (RFC 7306, section 5.2.1). Each method returns false if the stream ends.
 */
final class InboundRequests {
  private final Placement placement;
  private final ReadAtomicResponder answers;
  private final InboundFaults faults;
  private final ReadRequest read = new ReadRequest();
  private final AtomicRequest atomic = new AtomicRequest();
  private int number;

  InboundRequests(Placement placement, ReadAtomicResponder answers, InboundFaults faults) {
    this.placement = placement;
    this.answers = answers;
    this.faults = faults;
  }

  /** Begins a stream. */
  void start() {
    number = 0;
  }

  boolean read(ByteBuffer bytes, int at) {
    if (!faults.isMessage(FpduLayout.READ_REQUEST_LENGTH, ++number)) {
      return false;
    }
    read.parse(bytes, at);
    if (read.length() > 0) {
      if (!placement.allows(Use.READ)) {
        return faults.invalid(TerminateCause.REMOTE_ACCESS);
      }
      if (read.length() > Integer.MAX_VALUE
          || !placement.permits(
              Use.READ, read.sourceTag(), read.sourceOffset(), (int) read.length())) {
        return faults.denied(
            placement.denial(Use.READ, read.sourceTag(), read.sourceOffset(), read.length())
                .ofRequest);
      }
    }
    return answers.add(read) || faults.invalid(TerminateCause.STREAM_CATASTROPHE);
  }

  boolean atomic(ByteBuffer bytes, int at) {
    if (!faults.isMessage(FpduLayout.ATOMIC_REQUEST_LENGTH, ++number)) {
      return false;
    }
    atomic.parse(bytes, at);
    if (atomic.operation() == null) {
      return faults.invalid(TerminateCause.UNEXPECTED_OPCODE);
    }
    if ((atomic.offset() & Long.BYTES - 1) != 0) {
      return faults.invalid(TerminateCause.UNSPECIFIED_OPERATION);
    }
    if (!placement.allows(Use.ATOMIC)) {
      return faults.invalid(TerminateCause.REMOTE_ACCESS);
    }
    if (!placement.permits(Use.ATOMIC, atomic.tag(), atomic.offset(), Long.BYTES)) {
      return faults.denied(
          placement.denial(Use.ATOMIC, atomic.tag(), atomic.offset(), Long.BYTES).ofRequest);
    }
    return answers.add(atomic) || faults.invalid(TerminateCause.STREAM_CATASTROPHE);
  }
}
