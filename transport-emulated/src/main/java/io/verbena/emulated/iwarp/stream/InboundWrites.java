// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.emulated.iwarp.stream.Placement.Use;

/** WRITEs of the peer, each segment of which names the memory that it goes to. */
final class InboundWrites {
  private final Placement placement;
  private final FpduHeader header;
  private final InboundFaults faults;

  /** The address of the next byte. */
  private long at;

  /** The bytes of the last WRITE; {@link #ended} is true if the WRITE is complete. */
  private long written;

  private boolean ended;

  InboundWrites(Placement placement, FpduHeader header, InboundFaults faults) {
    this.placement = placement;
    this.header = header;
    this.faults = faults;
  }

  /** Begins a stream. */
  void start() {
    written = 0;
    ended = true;
  }

  /** Returns whether {@code length} more bytes are accepted. */
  boolean begin(int length) {
    at = header.taggedOffset();
    if (ended) {
      written = 0;
    }
    written += length;
    ended = header.isLast();
    if (length == 0) {
      return true;
    }
    if (!placement.allows(Use.WRITE)) {
      return faults.invalid(TerminateCause.REMOTE_ACCESS);
    }
    return placement.permits(Use.WRITE, header.tag(), at, length)
        || faults.denied(placement.denial(Use.WRITE, header.tag(), at, length).ofWrite);
  }

  /** Shows the memory for the next bytes. */
  boolean show(int most, MemoryView view) {
    return placement.show(Use.WRITE, header.tag(), at, most, view);
  }

  void placed(int length) {
    at += length;
  }

  /** Ends the stream: the memory for the WRITE is gone. */
  void memoryGone() {
    faults.denied(TerminateCause.TAGGED_INVALID_TAG);
  }

  /**
   * Returns the length of the WRITE that immediate data follows, and resets it; 0 if there is no
   * complete WRITE.
   */
  int takeLength() {
    long counted = ended ? Math.min(written, Integer.MAX_VALUE) : 0;
    written = 0;
    return (int) counted;
  }
}
