// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

/** What is wrong with the header of an FPDU; the first thing found, and what its sender is told. */
public enum FpduFault {
  /** Nothing. */
  NONE(TerminateCause.UNKNOWN),
  /** Shorter than its headers. */
  TOO_SHORT(TerminateCause.STREAM_CATASTROPHE),
  /** A version of DDP that is not known. */
  TAGGED_VERSION(TerminateCause.TAGGED_DDP_VERSION),
  UNTAGGED_VERSION(TerminateCause.UNTAGGED_DDP_VERSION),
  /** A version of RDMAP that is not known. */
  RDMAP_VERSION(TerminateCause.RDMAP_VERSION),
  /** No such operation, or one that is tagged and must not be, or is not and must be. */
  OPCODE(TerminateCause.UNEXPECTED_OPCODE),
  /** Of an untagged message, another queue than that of the operation. */
  QUEUE(TerminateCause.UNTAGGED_QUEUE);

  /** What to tell its sender. */
  public final TerminateCause cause;

  FpduFault(TerminateCause cause) {
    this.cause = cause;
  }
}
