// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static io.verbena.emulated.roce.PacketOpcode.RC_COMPARE_SWAP;
import static io.verbena.emulated.roce.PacketOpcode.RC_FETCH_ADD;
import static io.verbena.emulated.roce.PacketOpcode.RC_READ_REQUEST;
import static io.verbena.emulated.roce.PacketOpcode.RC_SEND_FIRST;
import static io.verbena.emulated.roce.PacketOpcode.RC_SEND_LAST;
import static io.verbena.emulated.roce.PacketOpcode.RC_SEND_LAST_IMMEDIATE;
import static io.verbena.emulated.roce.PacketOpcode.RC_SEND_LAST_INVALIDATE;
import static io.verbena.emulated.roce.PacketOpcode.RC_SEND_MIDDLE;
import static io.verbena.emulated.roce.PacketOpcode.RC_SEND_ONLY;
import static io.verbena.emulated.roce.PacketOpcode.RC_SEND_ONLY_IMMEDIATE;
import static io.verbena.emulated.roce.PacketOpcode.RC_SEND_ONLY_INVALIDATE;
import static io.verbena.emulated.roce.PacketOpcode.RC_WRITE_FIRST;
import static io.verbena.emulated.roce.PacketOpcode.RC_WRITE_LAST;
import static io.verbena.emulated.roce.PacketOpcode.RC_WRITE_LAST_IMMEDIATE;
import static io.verbena.emulated.roce.PacketOpcode.RC_WRITE_MIDDLE;
import static io.verbena.emulated.roce.PacketOpcode.RC_WRITE_ONLY;
import static io.verbena.emulated.roce.PacketOpcode.RC_WRITE_ONLY_IMMEDIATE;
import static io.verbena.emulated.roce.PacketOpcode.UC_SEND_FIRST;
import static io.verbena.emulated.roce.PacketOpcode.UC_SEND_LAST;
import static io.verbena.emulated.roce.PacketOpcode.UC_SEND_LAST_IMMEDIATE;
import static io.verbena.emulated.roce.PacketOpcode.UC_SEND_MIDDLE;
import static io.verbena.emulated.roce.PacketOpcode.UC_SEND_ONLY;
import static io.verbena.emulated.roce.PacketOpcode.UC_SEND_ONLY_IMMEDIATE;
import static io.verbena.emulated.roce.PacketOpcode.UC_WRITE_FIRST;
import static io.verbena.emulated.roce.PacketOpcode.UC_WRITE_LAST;
import static io.verbena.emulated.roce.PacketOpcode.UC_WRITE_LAST_IMMEDIATE;
import static io.verbena.emulated.roce.PacketOpcode.UC_WRITE_MIDDLE;
import static io.verbena.emulated.roce.PacketOpcode.UC_WRITE_ONLY;
import static io.verbena.emulated.roce.PacketOpcode.UC_WRITE_ONLY_IMMEDIATE;
import static io.verbena.emulated.roce.PacketOpcode.UD_SEND_ONLY;
import static io.verbena.emulated.roce.PacketOpcode.UD_SEND_ONLY_IMMEDIATE;

import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendOpcode;
import org.jspecify.annotations.Nullable;

/** Maps requests to the opcodes of their packets and of their completions. */
public final class RequestOpcodes {
  private RequestOpcodes() {}

  /**
   * Returns the opcode of a packet by its place in the message; null if the transport lacks the
   * operation.
   */
  static @Nullable PacketOpcode of(
      QueuePairType type, SendOpcode operation, boolean first, boolean last) {
    return switch (type) {
      case RC -> reliable(operation, first, last);
      case UC -> unreliable(operation, first, last);
      case UD ->
          switch (operation) {
            case SEND -> UD_SEND_ONLY;
            case SEND_WITH_IMM -> UD_SEND_ONLY_IMMEDIATE;
            default -> null;
          };
    };
  }

  private static @Nullable PacketOpcode reliable(
      SendOpcode operation, boolean first, boolean last) {
    return switch (operation) {
      case SEND -> last ? (first ? RC_SEND_ONLY : RC_SEND_LAST) : reliableSend(first);
      case SEND_WITH_IMM ->
          last ? (first ? RC_SEND_ONLY_IMMEDIATE : RC_SEND_LAST_IMMEDIATE) : reliableSend(first);
      case SEND_WITH_INV ->
          last ? (first ? RC_SEND_ONLY_INVALIDATE : RC_SEND_LAST_INVALIDATE) : reliableSend(first);
      case RDMA_WRITE -> last ? (first ? RC_WRITE_ONLY : RC_WRITE_LAST) : reliableWrite(first);
      case RDMA_WRITE_WITH_IMM ->
          last ? (first ? RC_WRITE_ONLY_IMMEDIATE : RC_WRITE_LAST_IMMEDIATE) : reliableWrite(first);
      case RDMA_READ -> RC_READ_REQUEST;
      case ATOMIC_CMP_AND_SWP -> RC_COMPARE_SWAP;
      case ATOMIC_FETCH_AND_ADD -> RC_FETCH_ADD;
      case LOCAL_INV, BIND_MW -> null;
    };
  }

  private static PacketOpcode reliableSend(boolean first) {
    return first ? RC_SEND_FIRST : RC_SEND_MIDDLE;
  }

  private static PacketOpcode reliableWrite(boolean first) {
    return first ? RC_WRITE_FIRST : RC_WRITE_MIDDLE;
  }

  private static @Nullable PacketOpcode unreliable(
      SendOpcode operation, boolean first, boolean last) {
    return switch (operation) {
      case SEND -> last ? (first ? UC_SEND_ONLY : UC_SEND_LAST) : unreliableSend(first);
      case SEND_WITH_IMM ->
          last ? (first ? UC_SEND_ONLY_IMMEDIATE : UC_SEND_LAST_IMMEDIATE) : unreliableSend(first);
      case RDMA_WRITE -> last ? (first ? UC_WRITE_ONLY : UC_WRITE_LAST) : unreliableWrite(first);
      case RDMA_WRITE_WITH_IMM ->
          last
              ? (first ? UC_WRITE_ONLY_IMMEDIATE : UC_WRITE_LAST_IMMEDIATE)
              : unreliableWrite(first);
      default -> null;
    };
  }

  private static PacketOpcode unreliableSend(boolean first) {
    return first ? UC_SEND_FIRST : UC_SEND_MIDDLE;
  }

  private static PacketOpcode unreliableWrite(boolean first) {
    return first ? UC_WRITE_FIRST : UC_WRITE_MIDDLE;
  }

  /** Returns whether the queue pair executes the operation locally, without a packet. */
  public static boolean isLocal(SendOpcode operation) {
    return operation == SendOpcode.LOCAL_INV || operation == SendOpcode.BIND_MW;
  }

  /** Returns whether the peer answers with more than an acknowledgement. */
  public static boolean isReadOrAtomic(SendOpcode operation) {
    return operation == SendOpcode.RDMA_READ || isAtomic(operation);
  }

  /** Returns whether the operation is an atomic. */
  public static boolean isAtomic(SendOpcode operation) {
    return operation == SendOpcode.ATOMIC_CMP_AND_SWP
        || operation == SendOpcode.ATOMIC_FETCH_AND_ADD;
  }

  /** Returns the opcode with which a request completes. */
  public static CompletionOpcode completion(SendOpcode operation) {
    return switch (operation) {
      case SEND, SEND_WITH_IMM, SEND_WITH_INV -> CompletionOpcode.SEND;
      case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> CompletionOpcode.RDMA_WRITE;
      case RDMA_READ -> CompletionOpcode.RDMA_READ;
      case ATOMIC_CMP_AND_SWP -> CompletionOpcode.COMP_SWAP;
      case ATOMIC_FETCH_AND_ADD -> CompletionOpcode.FETCH_ADD;
      case LOCAL_INV -> CompletionOpcode.LOCAL_INV;
      case BIND_MW -> CompletionOpcode.BIND_MW;
    };
  }
}
