// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

/** The first fault found in the header of an FPDU, with the cause to send to the peer. */
public enum FpduFault {
  /** There is no fault. */
  NONE(TerminateCause.UNKNOWN),
  /** The FPDU is shorter than its headers. */
  TOO_SHORT(TerminateCause.STREAM_CATASTROPHE),
  /** The version of DDP is unknown. */
  TAGGED_VERSION(TerminateCause.TAGGED_DDP_VERSION),
  UNTAGGED_VERSION(TerminateCause.UNTAGGED_DDP_VERSION),
  /** The version of RDMAP is unknown. */
  RDMAP_VERSION(TerminateCause.RDMAP_VERSION),
  /** The opcode is unknown, or its messages must be tagged and this one is not, or the reverse. */
  OPCODE(TerminateCause.UNEXPECTED_OPCODE),
  /** An untagged message is on another queue than that of its opcode. */
  QUEUE(TerminateCause.UNTAGGED_QUEUE);

  /** The cause to send to the peer. */
  public final TerminateCause cause;

  FpduFault(TerminateCause cause) {
    this.cause = cause;
  }
}
