// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.ExtendedHeader;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;

/**
 * Handles datagrams (IBTA volume 1, UD responder). A datagram is dropped unless it has the right
 * queue key and there is a receive with room for the 40 bytes of the GRH area and the payload. A
 * receive that is too small stays for the next datagram; but a receive of a shared queue completes
 * with the error, and the queue pair goes on. Over IPv4 the last 20 bytes of the GRH area hold the
 * IP header, and the first 20 are 0. Over IPv6 the header fills the area.
 */
final class DatagramResponder {
  private static final int IP_LENGTH = 20;

  private final EngineContext context;
  private final ReceiveProgress receive;
  private final Responder.Failure failure;
  private final ByteBuffer header = ByteBuffer.allocate(GlobalRoute.LENGTH);

  DatagramResponder(EngineContext context, ReceiveProgress receive, Responder.Failure failure) {
    this.context = context;
    this.receive = receive;
    this.failure = failure;
  }

  void receive(RocePacket packet) {
    int length = packet.payloadLength();
    if (packet.queueKey() != context.queueKey || length > context.mtu || !receive.take()) {
      return;
    }
    receive.rewind();
    if (!receive.hasRoom(GlobalRoute.LENGTH + length)) {
      if (context.options.sharedReceives()) {
        receive.fail(CompletionStatus.LOC_LEN_ERR);
      }
      return;
    }
    if (packet.isOverIpv6()) {
      header.put(0, packet.ipv6Header(), 0, GlobalRoute.LENGTH);
    } else {
      header.put(GlobalRoute.LENGTH - IP_LENGTH, packet.bytes(), 0, IP_LENGTH);
    }
    if (!receive.append(header, 0, GlobalRoute.LENGTH)
        || !receive.append(packet.bytes(), packet.payloadOffset(), length)) {
      receive.fail(Refusal.RECEIVE_MEMORY.status);
      failure.requestRefused();
      return;
    }
    boolean withImmediate = packet.opcode().has(ExtendedHeader.IMM_DT);
    receive.complete(
        CompletionOpcode.RECV,
        receive.filled(),
        withImmediate ? packet.immediate() : 0,
        packet.sourceQueuePair(),
        WorkCompletion.GRH | (withImmediate ? WorkCompletion.WITH_IMM : 0),
        packet.solicited());
  }
}
