// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.Words.EventWords;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.DatagramPeer;
import io.verbena.verbs.Gid;

/** The numbers of {@code enum rdma_cm_event_type}, and conversions of librdmacm's events. */
final class CmEvent {
  static final int ADDR_RESOLVED = 0;
  static final int ADDR_ERROR = 1;
  static final int ROUTE_RESOLVED = 2;
  static final int ROUTE_ERROR = 3;
  static final int CONNECT_REQUEST = 4;
  static final int CONNECT_RESPONSE = 5;
  static final int CONNECT_ERROR = 6;
  static final int UNREACHABLE = 7;
  static final int REJECTED = 8;
  static final int ESTABLISHED = 9;
  static final int DISCONNECTED = 10;
  static final int DEVICE_REMOVAL = 11;
  static final int ADDR_CHANGE = 14;

  private CmEvent() {}

  /** Returns the event type of the SPI for CONNECT_ERROR, UNREACHABLE and REJECTED. */
  static ConnectionEvent.Type refusal(int code) {
    return switch (code) {
      case REJECTED -> ConnectionEvent.Type.REJECTED;
      case UNREACHABLE -> ConnectionEvent.Type.UNREACHABLE;
      default -> ConnectionEvent.Type.CONNECT_ERROR;
    };
  }

  /** Returns the destination of datagrams, from the ESTABLISHED event of the connecting end. */
  static DatagramPeer datagramPeer(Block words) {
    int lid = words.getInt(EventWords.LID);
    AddressVector vector =
        new AddressVector(
            new Gid(words.get(EventWords.GID_HIGH), words.get(EventWords.GID_LOW)),
            words.getInt(EventWords.SGID_INDEX),
            words.getInt(EventWords.HOP_LIMIT),
            words.getInt(EventWords.TRAFFIC_CLASS),
            words.getInt(EventWords.FLOW_LABEL),
            lid,
            lid == 0 ? 0 : words.getInt(EventWords.SL));
    return new DatagramPeer(
        vector, words.getInt(EventWords.PEER_QP_NUM), words.getInt(EventWords.QUEUE_KEY));
  }
}
