// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import org.jspecify.annotations.Nullable;

/** The messages of RDMAP, by their code (RFC 5040, section 4.3). */
public enum RdmapOpcode {
  WRITE(0),
  READ_REQUEST(1),
  READ_RESPONSE(2),
  SEND(3),
  SEND_WITH_INVALIDATE(4),
  SEND_SOLICITED(5),
  SEND_SOLICITED_WITH_INVALIDATE(6),
  TERMINATE(7);

  private static final RdmapOpcode[] ALL = values();

  /** The queues of untagged messages. */
  public static final int SENDS = 0;

  public static final int READ_REQUESTS = 1;
  public static final int TERMINATES = 2;

  final int code;

  RdmapOpcode(int code) {
    this.code = code;
  }

  /** The message of a code, or null: those above are of RFC 7306, or none. */
  static @Nullable RdmapOpcode of(int code) {
    return code < ALL.length ? ALL[code] : null;
  }

  /** Whether its segments say where their bytes go. */
  public boolean isTagged() {
    return this == WRITE || this == READ_RESPONSE;
  }

  /** The queue that it goes to, if it is untagged. */
  public int queue() {
    return switch (this) {
      case READ_REQUEST -> READ_REQUESTS;
      case TERMINATE -> TERMINATES;
      default -> SENDS;
    };
  }

  /** Whether it invalidates a tag. */
  public boolean invalidates() {
    return this == SEND_WITH_INVALIDATE || this == SEND_SOLICITED_WITH_INVALIDATE;
  }

  /** Whether its receiver is to be woken. */
  public boolean solicits() {
    return this == SEND_SOLICITED || this == SEND_SOLICITED_WITH_INVALIDATE;
  }
}
