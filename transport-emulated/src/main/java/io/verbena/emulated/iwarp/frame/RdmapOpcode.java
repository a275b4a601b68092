// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import org.jspecify.annotations.Nullable;

/**
 * The messages of RDMAP, by their code (RFC 5040, section 4.3; from {@link #IMMEDIATE} on RFC 7306,
 * section 4.2).
 */
public enum RdmapOpcode {
  WRITE(0),
  READ_REQUEST(1),
  READ_RESPONSE(2),
  SEND(3),
  SEND_WITH_INVALIDATE(4),
  SEND_SOLICITED(5),
  SEND_SOLICITED_WITH_INVALIDATE(6),
  TERMINATE(7),
  IMMEDIATE(8),
  IMMEDIATE_SOLICITED(9),
  ATOMIC_REQUEST(10),
  ATOMIC_RESPONSE(11);

  private static final RdmapOpcode[] ALL = values();

  /** The queues of untagged messages. */
  public static final int SENDS = 0;

  public static final int READ_REQUESTS = 1;
  public static final int TERMINATES = 2;
  public static final int ATOMIC_RESPONSES = 3;

  final int code;

  RdmapOpcode(int code) {
    this.code = code;
  }

  /** Returns the message of a code, or null if there is none. */
  static @Nullable RdmapOpcode of(int code) {
    return code < ALL.length ? ALL[code] : null;
  }

  /** Returns whether its segments name the memory that their bytes go to. */
  public boolean isTagged() {
    return this == WRITE || this == READ_RESPONSE;
  }

  /** Returns the queue that its messages go to, if they are untagged. */
  public int queue() {
    return switch (this) {
      case READ_REQUEST, ATOMIC_REQUEST -> READ_REQUESTS;
      case TERMINATE -> TERMINATES;
      case ATOMIC_RESPONSE -> ATOMIC_RESPONSES;
      default -> SENDS;
    };
  }

  /** Returns whether RFC 7306 defines it, which not every peer supports. */
  public boolean isExtension() {
    return code >= IMMEDIATE.code;
  }

  /** Returns whether it invalidates a tag. */
  public boolean invalidates() {
    return this == SEND_WITH_INVALIDATE || this == SEND_SOLICITED_WITH_INVALIDATE;
  }

  /** Returns whether it raises a solicited event at its receiver. */
  public boolean solicits() {
    return this == SEND_SOLICITED
        || this == SEND_SOLICITED_WITH_INVALIDATE
        || this == IMMEDIATE_SOLICITED;
  }
}
