// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.emulated.iwarp.stream.Placement.Use;

/** WRITEs of the peer, each segment of which says where it goes. */
final class InboundWrites {
  private final Placement placement;
  private final FpduHeader header;
  private final InboundFaults faults;

  /** Where the next byte goes. */
  private long at;

  /** Bytes of the WRITE that came last, of which {@link #ended} says whether it is whole. */
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

  /** Whether so many bytes may come. */
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

  /** Shows where the next bytes go. */
  boolean show(int most, MemoryView view) {
    return placement.show(Use.WRITE, header.tag(), at, most, view);
  }

  void placed(int length) {
    at += length;
  }

  /** The memory that it goes to is gone. */
  void memoryGone() {
    faults.denied(TerminateCause.TAGGED_INVALID_TAG);
  }

  /** The length of a WRITE that immediate data follows; 0 without one. Told once. */
  int takeLength() {
    long told = ended ? Math.min(written, Integer.MAX_VALUE) : 0;
    written = 0;
    return (int) told;
  }
}
