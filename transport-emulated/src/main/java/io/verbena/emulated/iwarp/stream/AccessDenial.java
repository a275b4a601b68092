// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.iwarp.frame.TerminateCause;

/**
 * Reasons why a key does not open memory to a peer, with the causes to send to the peer: of DDP,
 * which places the bytes, for a WRITE (RFC 5041, section 7), and of RDMAP for a READ or an atomic
 * (RFC 5040, section 4.8).
 */
public enum AccessDenial {
  /** The key is unknown, or dead. */
  INVALID_TAG(TerminateCause.TAGGED_INVALID_TAG, TerminateCause.REMOTE_INVALID_TAG),
  /** The key is of another protection domain, or of a window of another queue pair. */
  TAG_OF_ANOTHER_STREAM(
      TerminateCause.TAGGED_TAG_OF_ANOTHER_STREAM, TerminateCause.REMOTE_TAG_OF_ANOTHER_STREAM),
  /** The right is missing. DDP has no rights, so it has no code for that. */
  ACCESS(TerminateCause.REMOTE_ACCESS, TerminateCause.REMOTE_ACCESS),
  BOUNDS(TerminateCause.TAGGED_BOUNDS, TerminateCause.REMOTE_BOUNDS),
  /** The range goes beyond the highest address. */
  OFFSET_WRAPS(TerminateCause.TAGGED_OFFSET_WRAPS, TerminateCause.REMOTE_OFFSET_WRAPS);

  final TerminateCause ofWrite;
  final TerminateCause ofRequest;

  AccessDenial(TerminateCause ofWrite, TerminateCause ofRequest) {
    this.ofWrite = ofWrite;
    this.ofRequest = ofRequest;
  }

  /** Returns the reason why a range that is not in a region is denied. */
  public static AccessDenial ofRange(long address, long length) {
    boolean wraps = Long.compareUnsigned(address + length - 1, address) < 0;
    return wraps ? OFFSET_WRAPS : BOUNDS;
  }
}
