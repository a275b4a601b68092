// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Access;

/**
 * The WRITE that a responder is receiving: the address of its next byte, and the number of bytes
 * left.
 */
final class InboundWrite {
  private final EngineHost host;
  private long address;
  private int rkey;
  private long length;
  private long left;

  InboundWrite(EngineHost host) {
    this.host = host;
  }

  /** Begins the WRITE that a packet's RETH describes. */
  void begin(RocePacket packet) {
    address = packet.remoteAddress();
    rkey = packet.remoteKey();
    length = packet.dmaLength();
    left = length;
  }

  /** Returns the length of the whole WRITE. */
  int length() {
    return (int) length;
  }

  /** Checks the access to the whole range. A WRITE of 0 bytes needs no key. */
  Refusal check() {
    return length == 0
        ? Refusal.NONE
        : Refusal.ofRemote(host.checkRemote(rkey, address, length, Access.REMOTE_WRITE.bit()));
  }

  /**
   * Returns whether a packet's payload fits the bytes that are left: the last packet carries
   * exactly these, any other packet fewer.
   */
  boolean fits(RocePacket packet) {
    int payload = packet.payloadLength();
    return packet.opcode().ends() ? payload == left : payload < left;
  }

  Refusal append(RocePacket packet) {
    int payload = packet.payloadLength();
    if (payload == 0) {
      return Refusal.NONE;
    }
    AccessResult outcome =
        host.writeRemote(rkey, address, packet.payload(), packet.payloadIndex(), payload);
    if (!packet.confirm()) {
      return Refusal.WITHDRAWN;
    }
    address += payload;
    left -= payload;
    return Refusal.ofRemote(outcome);
  }
}
