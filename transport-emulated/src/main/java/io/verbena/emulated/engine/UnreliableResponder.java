// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.ExtendedHeader;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.PacketOpcode.Kind;
import io.verbena.emulated.roce.Psn;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

/**
 * Executes the requests of an unreliable connection's peer (IBTA volume 1, UC responder), without
 * answers. A message that lacks a packet or is not allowed is dropped whole, and its receive serves
 * the next message; but a receive of a shared queue that is too small completes with the error. A
 * dropped WRITE may have changed some of its bytes.
 *
 * <pre>
 *               expected PSN                     any other PSN
 *  FIRST, ONLY  begins a message                 begins a message: those before it are lost
 *  MIDDLE, LAST continues it, or is dropped      drops the message, and all up to the next FIRST
 * </pre>
 *
 * So a message that the network duplicates is executed twice, as on hardware.
 */
final class UnreliableResponder {
  private final EngineContext context;
  private final ReceiveProgress receive;
  private final InboundWrite write;
  private final Responder.Failure failure;
  private int expected;
  private @Nullable Kind open;

  UnreliableResponder(
      EngineContext context,
      ReceiveProgress receive,
      InboundWrite write,
      Responder.Failure failure) {
    this.context = context;
    this.receive = receive;
    this.write = write;
    this.failure = failure;
  }

  void startAt(int psn) {
    expected = psn;
    open = null;
  }

  void receive(RocePacket packet) {
    PacketOpcode opcode = packet.opcode();
    if (opcode.starts()) {
      open = null;
      receive.rewind();
    } else if (packet.psn() != expected || opcode.kind() != open) {
      open = null;
      return;
    }
    expected = Psn.next(packet.psn());
    open = execute(packet) && !opcode.ends() ? opcode.kind() : null;
  }

  /** Executes one packet; returns false if its message is dropped. */
  private boolean execute(RocePacket packet) {
    PacketOpcode opcode = packet.opcode();
    boolean written = opcode.kind() == Kind.WRITE;
    boolean withImmediate = opcode.has(ExtendedHeader.IMM_DT);
    if (written && !context.allows(Access.REMOTE_WRITE.bit())) {
      return false;
    }
    if ((!written || withImmediate) && !receive.take()) {
      return false;
    }
    if (!Responder.hasFittingPayload(packet, context.mtu)) {
      return false;
    }
    if (!(written ? write(packet) : append(packet))) {
      return false;
    }
    if (opcode.ends() && (!written || withImmediate)) {
      receive.complete(
          written ? CompletionOpcode.RECV_RDMA_WITH_IMM : CompletionOpcode.RECV,
          written ? write.length() : receive.filled(),
          withImmediate ? packet.immediate() : 0,
          0,
          withImmediate ? WorkCompletion.WITH_IMM : 0,
          packet.solicited());
    }
    return true;
  }

  private boolean write(RocePacket packet) {
    if (packet.opcode().starts()) {
      write.begin(packet);
      if (write.check() != Refusal.NONE) {
        return false;
      }
    }
    return write.fits(packet) && write.append(packet) == Refusal.NONE;
  }

  private boolean append(RocePacket packet) {
    int length = packet.payloadLength();
    if (!receive.hasRoom(length)) {
      if (context.options.sharedReceives()) {
        receive.fail(CompletionStatus.LOC_LEN_ERR);
      }
      return false;
    }
    if (!receive.append(packet.payload(), packet.payloadIndex(), length)) {
      // This is the receiver's own fault, which dropping the message would hide.
      receive.fail(Refusal.RECEIVE_MEMORY.status);
      failure.requestRefused();
      return false;
    }
    return true;
  }
}
