// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.Ownership;
import io.verbena.emulated.hca.ReceiveRing;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;

/**
 * Requester and responder of UD within this JVM. The responder silently drops a datagram if the
 * queue pair is unknown, of another type or in no state to receive, if the queue key differs, or if
 * there is no receive or the receive is too small. Only the owner of the {@link DirectSendQueue}
 * uses this class; that thread also acquires the receiver's {@link DirectQueuePair#arrivals}.
 */
final class DirectDatagrams {
  private final DirectQueuePair pair;
  private final ByteBuffer route = ByteBuffer.allocateDirect(GlobalRoute.LENGTH);

  /** The header and the payload. */
  private final Spans from = new Spans();

  private final Spans to = new Spans();

  DirectDatagrams(DirectQueuePair pair) {
    this.pair = pair;
  }

  TransferResult send(SendWorkRequest request) {
    from.add(route, 0, GlobalRoute.LENGTH);
    try {
      int length = (int) request.buffers().totalLength();
      ByteBuffer inline = request.inlineData();
      if (inline != null) {
        length = inline.remaining();
        from.add(inline, inline.position(), length);
      } else if (!from.add(request.buffers(), pair, 0)) {
        return TransferResult.LOCAL_PROTECTION;
      }
      // A datagram beyond the MTU is not sent, which is not an error (IBTA volume 1, C10-93.1.1).
      boolean sent =
          length > EmulatedDevice.MTU.bytes()
              || request.addressHandle() == null
              || send(request, request.addressHandle().vector(), length);
      return sent ? TransferResult.DONE : TransferResult.LOCAL_PROTECTION;
    } finally {
      from.clear();
    }
  }

  /**
   * Sends to the addressed queue pair, if there is one; returns false if the memory of this end
   * cannot be read.
   */
  private boolean send(SendWorkRequest request, AddressVector way, int length) {
    EmulatedDevice there = pair.fabric().device(way.destination());
    // All queue pairs of a fabric are of one class.
    DirectQueuePair target =
        there == null ? null : (DirectQueuePair) there.queuePair(request.remoteQueuePair());
    Ownership arrivals = target == null ? null : target.arrivals();
    if (target == null || arrivals == null) {
      return true;
    }
    int extra = request.opcode() == SendOpcode.SEND_WITH_IMM ? Integer.BYTES : 0;
    GlobalRoute.write(route, way, pair.device().gid(), length, extra);
    // The high bit selects the sender's own key (IBTA volume 1, controlled queue keys).
    int key = request.remoteQueueKey() < 0 ? pair.queueKey() : request.remoteQueueKey();
    arrivals.acquire();
    try {
      return !target.isReceiving()
          || target.queueKey() != key
          || !target.hasReceive()
          || deliver(request, target, length);
    } finally {
      arrivals.release();
    }
  }

  private boolean deliver(SendWorkRequest request, DirectQueuePair target, int length) {
    int withRoute = GlobalRoute.LENGTH + length;
    ReceiveRing receives = target.receives();
    if (receives.totalLength() < withRoute) {
      if (target.shared() != null) {
        complete(request, target, CompletionStatus.LOC_LEN_ERR, 0);
      }
      return true;
    }
    boolean moved = to.add(receives, withRoute, target) && move(withRoute);
    to.clear();
    if (!moved && !from.isReadable()) {
      return false;
    }
    complete(
        request,
        target,
        moved ? CompletionStatus.SUCCESS : CompletionStatus.LOC_PROT_ERR,
        withRoute);
    return true;
  }

  private boolean move(int length) {
    try {
      Spans.copy(from, to, length);
      return true;
    } catch (RuntimeException | Error e) {
      // The program took the memory away while it was registered.
      return false;
    }
  }

  private void complete(
      SendWorkRequest request, DirectQueuePair target, CompletionStatus status, int length) {
    boolean immediate = request.opcode() == SendOpcode.SEND_WITH_IMM;
    DirectSendQueue sends = pair.sends();
    target.completeReceive(
        target.receiveCompletions().claim(),
        sends
            .completion()
            .ends(status, CompletionOpcode.RECV, length)
            .carries(
                WorkCompletion.GRH | (immediate ? WorkCompletion.WITH_IMM : 0),
                immediate ? request.immediate() : 0)
            .cameFrom(pair.number())
            .solicits((request.flags() & SendWorkRequest.SOLICITED) != 0),
        sends);
  }
}
