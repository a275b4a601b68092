// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static io.verbena.emulated.roce.ExtendedHeader.AETH;
import static io.verbena.emulated.roce.ExtendedHeader.ATOMIC_ACK_ETH;
import static io.verbena.emulated.roce.ExtendedHeader.ATOMIC_ETH;
import static io.verbena.emulated.roce.ExtendedHeader.DETH;
import static io.verbena.emulated.roce.ExtendedHeader.IETH;
import static io.verbena.emulated.roce.ExtendedHeader.IMM_DT;
import static io.verbena.emulated.roce.ExtendedHeader.RETH;

import org.jspecify.annotations.Nullable;

/**
 * The operation of a packet: the first byte of its base transport header (IBTA volume 1, opcodes of
 * the BTH). The high three bits are the transport, the low five the operation.
 */
public enum PacketOpcode {
  RC_SEND_FIRST(0x00, Kind.SEND, Position.FIRST),
  RC_SEND_MIDDLE(0x01, Kind.SEND, Position.MIDDLE),
  RC_SEND_LAST(0x02, Kind.SEND, Position.LAST),
  RC_SEND_LAST_IMMEDIATE(0x03, Kind.SEND, Position.LAST, IMM_DT),
  RC_SEND_ONLY(0x04, Kind.SEND, Position.ONLY),
  RC_SEND_ONLY_IMMEDIATE(0x05, Kind.SEND, Position.ONLY, IMM_DT),
  RC_WRITE_FIRST(0x06, Kind.WRITE, Position.FIRST, RETH),
  RC_WRITE_MIDDLE(0x07, Kind.WRITE, Position.MIDDLE),
  RC_WRITE_LAST(0x08, Kind.WRITE, Position.LAST),
  RC_WRITE_LAST_IMMEDIATE(0x09, Kind.WRITE, Position.LAST, IMM_DT),
  RC_WRITE_ONLY(0x0a, Kind.WRITE, Position.ONLY, RETH),
  RC_WRITE_ONLY_IMMEDIATE(0x0b, Kind.WRITE, Position.ONLY, RETH, IMM_DT),
  RC_READ_REQUEST(0x0c, Kind.READ_REQUEST, Position.ONLY, RETH),
  RC_READ_RESPONSE_FIRST(0x0d, Kind.READ_RESPONSE, Position.FIRST, AETH),
  RC_READ_RESPONSE_MIDDLE(0x0e, Kind.READ_RESPONSE, Position.MIDDLE),
  RC_READ_RESPONSE_LAST(0x0f, Kind.READ_RESPONSE, Position.LAST, AETH),
  RC_READ_RESPONSE_ONLY(0x10, Kind.READ_RESPONSE, Position.ONLY, AETH),
  RC_ACKNOWLEDGE(0x11, Kind.ACKNOWLEDGE, Position.ONLY, AETH),
  RC_ATOMIC_ACKNOWLEDGE(0x12, Kind.ATOMIC_ACKNOWLEDGE, Position.ONLY, AETH, ATOMIC_ACK_ETH),
  RC_COMPARE_SWAP(0x13, Kind.COMPARE_SWAP, Position.ONLY, ATOMIC_ETH),
  RC_FETCH_ADD(0x14, Kind.FETCH_ADD, Position.ONLY, ATOMIC_ETH),
  RC_SEND_LAST_INVALIDATE(0x16, Kind.SEND, Position.LAST, IETH),
  RC_SEND_ONLY_INVALIDATE(0x17, Kind.SEND, Position.ONLY, IETH),

  UC_SEND_FIRST(0x20, Kind.SEND, Position.FIRST),
  UC_SEND_MIDDLE(0x21, Kind.SEND, Position.MIDDLE),
  UC_SEND_LAST(0x22, Kind.SEND, Position.LAST),
  UC_SEND_LAST_IMMEDIATE(0x23, Kind.SEND, Position.LAST, IMM_DT),
  UC_SEND_ONLY(0x24, Kind.SEND, Position.ONLY),
  UC_SEND_ONLY_IMMEDIATE(0x25, Kind.SEND, Position.ONLY, IMM_DT),
  UC_WRITE_FIRST(0x26, Kind.WRITE, Position.FIRST, RETH),
  UC_WRITE_MIDDLE(0x27, Kind.WRITE, Position.MIDDLE),
  UC_WRITE_LAST(0x28, Kind.WRITE, Position.LAST),
  UC_WRITE_LAST_IMMEDIATE(0x29, Kind.WRITE, Position.LAST, IMM_DT),
  UC_WRITE_ONLY(0x2a, Kind.WRITE, Position.ONLY, RETH),
  UC_WRITE_ONLY_IMMEDIATE(0x2b, Kind.WRITE, Position.ONLY, RETH, IMM_DT),

  UD_SEND_ONLY(0x64, Kind.SEND, Position.ONLY, DETH),
  UD_SEND_ONLY_IMMEDIATE(0x65, Kind.SEND, Position.ONLY, DETH, IMM_DT),

  /** Notifies a sender that its packets met congestion (annex on RoCEv2, congestion management). */
  CONGESTION_NOTIFICATION(0x81, Kind.CONGESTION_NOTIFICATION, Position.ONLY);

  /** The transports, by the high three bits of the code. */
  public enum Transport {
    RC,
    UC,
    UD,
    CNP
  }

  /** The kinds of operations. */
  public enum Kind {
    SEND(true),
    WRITE(true),
    READ_REQUEST(false),
    READ_RESPONSE(true),
    ACKNOWLEDGE(false),
    ATOMIC_ACKNOWLEDGE(false),
    COMPARE_SWAP(false),
    FETCH_ADD(false),
    CONGESTION_NOTIFICATION(false);

    private final boolean payload;

    Kind(boolean payload) {
      this.payload = payload;
    }
  }

  /** Places of a packet in a message. */
  public enum Position {
    FIRST,
    MIDDLE,
    LAST,
    ONLY
  }

  /** The reserved bytes, all 0, that follow the header of a congestion notification. */
  static final int CONGESTION_RESERVED = 16;

  private static final @Nullable PacketOpcode[] BY_CODE = new @Nullable PacketOpcode[256];

  static {
    for (PacketOpcode opcode : values()) {
      BY_CODE[opcode.code] = opcode;
    }
  }

  private final int code;
  private final Kind kind;
  private final Position position;
  private final int headers;
  private final int immediateOffset;
  private final int payloadOffset;

  PacketOpcode(int code, Kind kind, Position position, ExtendedHeader... headers) {
    this.code = code;
    this.kind = kind;
    this.position = position;
    int bits = 0;
    int offset = BthLayout.END;
    int immediate = 0;
    for (ExtendedHeader header : headers) {
      if (header == IMM_DT) {
        immediate = offset;
      }
      bits |= header.bit();
      offset += header.length();
    }
    this.headers = bits;
    this.immediateOffset = immediate;
    this.payloadOffset =
        kind == Kind.CONGESTION_NOTIFICATION ? offset + CONGESTION_RESERVED : offset;
  }

  /**
   * Returns the opcode with this code, of which only the low 8 bits count; null if there is none.
   */
  public static @Nullable PacketOpcode of(int code) {
    return BY_CODE[code & 0xff];
  }

  /** Returns the code in the base transport header. */
  public int code() {
    return code;
  }

  public Transport transport() {
    return switch (code >>> 5) {
      case 0 -> Transport.RC;
      case 1 -> Transport.UC;
      case 3 -> Transport.UD;
      default -> Transport.CNP;
    };
  }

  public Kind kind() {
    return kind;
  }

  public Position position() {
    return position;
  }

  /** Returns whether packets with this opcode have this header. */
  public boolean has(ExtendedHeader header) {
    return (headers & header.bit()) != 0;
  }

  /** Returns whether a packet with this opcode starts a message. */
  public boolean starts() {
    return position == Position.FIRST || position == Position.ONLY;
  }

  /** Returns whether a packet with this opcode ends a message. */
  public boolean ends() {
    return position == Position.LAST || position == Position.ONLY;
  }

  /** Returns whether packets with this opcode may have payload. */
  public boolean carriesPayload() {
    return kind.payload;
  }

  /** Returns whether a requester sends this opcode; all others answer or notify a requester. */
  public boolean isRequest() {
    return switch (kind) {
      case SEND, WRITE, READ_REQUEST, COMPARE_SWAP, FETCH_ADD -> true;
      case READ_RESPONSE, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, CONGESTION_NOTIFICATION -> false;
    };
  }

  boolean hasAny(int bits) {
    return (headers & bits) != 0;
  }

  /** Returns the offset of the immediate data from the start of the packet; 0 if there is none. */
  int immediateOffset() {
    return immediateOffset;
  }

  /**
   * Returns the offset of the payload from the start of the packet; the offset of the pad if there
   * is no payload.
   */
  int payloadOffset() {
    return payloadOffset;
  }
}
