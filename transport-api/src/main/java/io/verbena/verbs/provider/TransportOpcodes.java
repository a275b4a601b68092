// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendOpcode;

/** The operations of each transport service ({@code ibv_post_send(3)}). */
public final class TransportOpcodes {
  private TransportOpcodes() {}

  /** Returns whether queue pairs of this type have the operation, on a device that supports it. */
  public static boolean has(QueuePairType type, SendOpcode opcode) {
    return switch (opcode) {
      case SEND, SEND_WITH_IMM -> true;
      case RDMA_WRITE, RDMA_WRITE_WITH_IMM, SEND_WITH_INV, LOCAL_INV, BIND_MW ->
          type != QueuePairType.UD;
      case RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> type == QueuePairType.RC;
    };
  }
}
