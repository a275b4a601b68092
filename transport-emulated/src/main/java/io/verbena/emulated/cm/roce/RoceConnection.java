// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.ManagedQueuePair;
import io.verbena.emulated.cm.protocol.CmReason;
import io.verbena.emulated.cm.protocol.CmUser;
import io.verbena.emulated.cm.protocol.Communication;
import io.verbena.emulated.crypto.PacketCipher;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.packet.HostFabric;
import io.verbena.emulated.packet.PacketFabric;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortSpace;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection over a wire.
 *
 * <pre>{@code
 * active                                     passive
 * RESOLVED                                   REQUESTED
 *    | connect: REQ                             | accept: RTR, REP         | reject, close: REJ,
 * CONNECTING -- REJ, MTU: REQ, smaller       ACCEPTING                     | or DREQ after RTU
 *    | REP: RTR, RTS, RTU                       | RTU: RTS                 |
 * ESTABLISHED                                ESTABLISHED                   |
 *    | disconnect, close: DREQ; the peer's      |                          |
 * ENDED  <--------------------------------------+--------------------------+
 * }</pre>
 */
abstract sealed class RoceConnection extends RoceIdentifier implements CmUser
    permits ActiveRoceConnection, PassiveRoceConnection {
  /**
   * The code of 537 ms, the shortest timeout that {@code rdma_cm} sets with RoCE. With all retries,
   * it is longer than a busy machine keeps a process from running. Losses are repaired long before.
   */
  static final int ACK_TIMEOUT = 17;

  /** The code of 0.64 ms. */
  private static final int RNR_TIMER = 12;

  /** The first PSN that the peer sends, which this end chooses. */
  final int peerPsn;

  RoceConnection(
      RoceConnectionManager manager,
      Gid peer,
      int peerPort,
      String peerName,
      int service,
      State state) {
    super(manager, PortSpace.TCP, peer, peerPort, peerName, service, state);
    peerPsn = manager.fabric().secrets().next24Bits();
  }

  /** Returns this end of the connection in the protocol; null before {@code connect}. */
  abstract @Nullable Communication communication();

  /**
   * Moves the queue pair to RTR. From the first packet on, the connection's cipher seals its
   * packets.
   */
  final void toReadyToReceive(EmulatedQueuePair pair, int number, Mtu mtu) {
    Communication ours = communication();
    PacketCipher cipher = ours == null ? null : ours.packets();
    if (cipher != null) {
      PacketFabric.protect(pair, cipher);
    }
    ManagedQueuePair.toReadyToReceive(
        pair, peer, number, mtu, peerPsn, parameters.responderResources(), RNR_TIMER);
  }

  final void toReadyToSend(
      EmulatedQueuePair pair, int psn, int retryCount, int rnrRetry, int peerServes) {
    int depth = Math.min(parameters.initiatorDepth(), peerServes);
    ManagedQueuePair.toReadyToSend(pair, psn, ACK_TIMEOUT, retryCount, rnrRetry, depth);
  }

  static Mtu mtu(int code) {
    for (Mtu mtu : Mtu.values()) {
      if (mtu.code() == code) {
        return mtu;
      }
    }
    throw new AssertionError("the MTU has been checked: " + code);
  }

  /**
   * Ends the connection at both ends, since the queue pair is closed or its state does not allow
   * connecting.
   */
  final void fail() {
    onAgent(ours -> ours.reject(CmReason.CONSUMER_DEFINED, NO_DATA));
    endBy(ConnectionEvent.Type.CONNECT_ERROR, BROKEN_PIPE, NO_DATA);
  }

  @Override
  public final void disconnected() {
    manager().note(() -> end(/* byUs= */ false));
  }

  @Override
  protected final void sendDisconnect() {
    onAgent(Communication::disconnect);
  }

  /** Gives up. The connection may be established already at the agent, which then sends a DREQ. */
  @Override
  protected final void giveUp() {
    int reason = state == State.CONNECTING ? CmReason.TIMEOUT : CmReason.CONSUMER_DEFINED;
    onAgent(ours -> ours.reject(reason, NO_DATA));
  }

  /** Runs a step with the communication, if any, inside the fabric. */
  final void onAgent(Consumer<Communication> step) {
    Communication ours = communication();
    if (ours != null) {
      HostFabric fabric = manager().fabric();
      fabric.entered(
          () -> {
            // Queue pairs first send their remaining packets, before a message ends their
            // connection.
            fabric.catchUp();
            step.accept(ours);
          });
      fabric.wake();
    }
  }
}
