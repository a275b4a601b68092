// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Aeth;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.PacketOpcode.Kind;
import io.verbena.emulated.roce.Psn;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Handles the answers of a reliable connection's peer (IBTA volume 1, requester side;
 * acknowledgement handling).
 *
 * <pre>
 *  answer with PSN p          SENDs and WRITEs   a READ or atomic   then
 *                             up to              before p
 *  ACK                        p                  implied NAK
 *  READ response, atomic ack  p - 1              implied NAK        takes the data
 *  NAK 0x60                   p - 1              implied NAK        sends again from p
 *  RNR NAK                    p - 1              implied NAK        waits, sends again from p
 *  NAK 0x61, 0x62, 0x63       p - 1              implied NAK        fails the request of p
 *  p answered before, or never sent: dropped
 * </pre>
 *
 * An implied NAK means that the answer to a READ or atomic was lost. Only its own answer completes
 * a READ or atomic, so the requester sends it again. Until the peer makes progress, one loss starts
 * one retry.
 */
final class Completer {
  /** The step after an answer, once all requests that the answer acknowledges are completed. */
  private enum Next {
    NOTHING,
    SEND_AGAIN,
    AWAIT_RECEIVER,
    FAIL
  }

  private final EngineContext context;
  private final SendWindow window;
  private final RetryClock clock;
  private final CongestionWindow congestion;
  private final LossProbe probe;
  private final Requester requester;
  private final ByteBuffer original =
      ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
  private CompletionStatus failure = CompletionStatus.GENERAL_ERR;

  Completer(
      EngineContext context,
      SendWindow window,
      RetryClock clock,
      CongestionWindow congestion,
      LossProbe probe,
      Requester requester) {
    this.context = context;
    this.window = window;
    this.clock = clock;
    this.congestion = congestion;
    this.probe = probe;
    this.requester = requester;
  }

  /** Handles the timeout of an answer. */
  void timeout() {
    if (window.awaitsAnswer()) {
      if (!context.isFull()) {
        congestion.silent(window.sentEnd);
      }
      context.share.silent();
      sendAgain();
    }
  }

  /** Handles a late answer: sends the oldest packet once more, without counting a retry. */
  void probe() {
    if (window.awaitsAnswer()) {
      probe.begin();
      if (clock.isLate()) {
        context.share.silent();
      }
    }
  }

  void receive(RocePacket answer) {
    SendWindow w = window;
    int psn = answer.psn();
    int before = w.unacknowledged;
    if (Psn.difference(psn, w.sentEnd) >= 0 || Psn.difference(psn, before) < 0) {
      return;
    }
    Next next = judge(answer, psn);
    if (w.unacknowledged != before) {
      congestion.answered(Psn.difference(w.unacknowledged, before), w.unacknowledged);
      clock.confirm();
      context.share.heard();
      probe.answered(w.unacknowledged);
      if (w.awaitsAnswer()) {
        clock.restart();
      } else {
        clock.answered();
      }
      if (next != Next.FAIL) {
        requester.headMoved();
      }
    }
    if (context.state == QueuePairState.ERR) {
      return;
    }
    switch (next) {
      case NOTHING -> {}
      case SEND_AGAIN -> {
        if (!clock.awaitsReceiver() && !clock.isRetrying()) {
          retry();
        }
      }
      case AWAIT_RECEIVER -> awaitReceiver(Aeth.value(answer.syndrome()));
      case FAIL -> requester.fail(failure);
    }
  }

  private void retry() {
    congestion.lost(window.sentEnd);
    sendAgain();
  }

  private void sendAgain() {
    if (clock.retry()) {
      context.host.count(Counter.RETRANSMISSIONS);
      requester.goBack();
    } else {
      requester.fail(CompletionStatus.RETRY_EXC_ERR);
    }
  }

  private void awaitReceiver(int timerCode) {
    if (clock.awaitsReceiver()) {
      return;
    }
    context.host.count(Counter.RNR_RECEIVED);
    if (clock.awaitReceiver(timerCode)) {
      requester.goBack();
    } else {
      requester.fail(CompletionStatus.RNR_RETRY_EXC_ERR);
    }
  }

  private Next judge(RocePacket answer, int psn) {
    Kind kind = answer.opcode().kind();
    if (kind != Kind.ACKNOWLEDGE) {
      return acknowledge(psn) ? takeData(answer, psn, kind) : Next.SEND_AGAIN;
    }
    int syndrome = answer.syndrome();
    boolean good = Aeth.isAck(syndrome);
    if (!acknowledge(good ? Psn.next(psn) : psn)) {
      return Next.SEND_AGAIN;
    }
    if (good) {
      return Next.NOTHING;
    }
    if (Aeth.isRnrNak(syndrome)) {
      return Next.AWAIT_RECEIVER;
    }
    return switch (syndrome) {
      case Aeth.SEQUENCE_ERROR -> Next.SEND_AGAIN;
      case Aeth.INVALID_REQUEST -> fail(CompletionStatus.REM_INV_REQ_ERR);
      case Aeth.REMOTE_ACCESS_ERROR -> fail(CompletionStatus.REM_ACCESS_ERR);
      case Aeth.REMOTE_OPERATION_ERROR -> fail(CompletionStatus.REM_OP_ERR);
      default -> Next.NOTHING;
    };
  }

  private Next fail(CompletionStatus status) {
    failure = status;
    return Next.FAIL;
  }

  /**
   * Marks all packets before PSN {@code end} as acknowledged.
   *
   * @return false if a READ or atomic among them has not been answered; that request is the oldest
   *     then
   */
  private boolean acknowledge(int end) {
    SendWindow w = window;
    while (w.head < w.started) {
      int packets = w.packets(w.head);
      if (packets > 0) {
        int acknowledged = Psn.difference(end, w.firstPsn(w.head));
        if (acknowledged <= 0) {
          return true;
        }
        if (RequestOpcodes.isReadOrAtomic(w.request(w.head).opcode())) {
          return Psn.difference(end, w.unacknowledged) <= 0;
        }
        if (acknowledged < packets) {
          w.unacknowledged = end;
          return true;
        }
        w.unacknowledged = Psn.plus(w.firstPsn(w.head), packets);
      }
      w.completeHead();
    }
    return true;
  }

  private Next takeData(RocePacket answer, int psn, Kind kind) {
    SendWindow w = window;
    SendWorkRequest request = w.request(w.head);
    SendOpcode operation = request.opcode();
    boolean fits =
        kind == Kind.READ_RESPONSE
            ? operation == SendOpcode.RDMA_READ
            : RequestOpcodes.isAtomic(operation);
    PacketOpcode opcode = answer.opcode();
    if (!fits
        || (opcode != PacketOpcode.RC_READ_RESPONSE_MIDDLE && !Aeth.isAck(answer.syndrome()))) {
      return fail(CompletionStatus.BAD_RESP_ERR);
    }
    return kind == Kind.READ_RESPONSE
        ? takeRead(answer, psn, request)
        : takeAtomic(answer, psn, request);
  }

  private Next takeRead(RocePacket answer, int psn, SendWorkRequest request) {
    SendWindow w = window;
    int first = Psn.difference(psn, w.firstPsn(w.head));
    int packets = answer.isReferring() ? context.packets(answer.payloadLength()) : 1;
    int packet = first + packets - 1;
    int lastPacket = w.packets(w.head) - 1;
    if (packet > lastPacket || Psn.difference(Psn.plus(psn, packets), w.sentEnd) > 0) {
      return fail(CompletionStatus.LOC_LEN_ERR);
    }
    boolean last = packet == lastPacket;
    // A READ that is requested again from its middle may be answered by a new response or by the
    // continued old one. So FIRST counts as MIDDLE, and ONLY as LAST.
    if (answer.opcode().ends() != (last || context.endsReadPart(packet))) {
      return fail(CompletionStatus.BAD_RESP_ERR);
    }
    long done = (long) first * context.mtu;
    long due = last ? request.buffers().totalLength() - done : (long) packets * context.mtu;
    if (answer.payloadLength() != due) {
      return fail(CompletionStatus.LOC_LEN_ERR);
    }
    AccessResult outcome =
        Segments.scatter(
            context.host,
            request.buffers(),
            done,
            answer.payload(),
            answer.payloadIndex(),
            answer.payloadLength());
    return answer.confirm() ? acceptData(Psn.plus(psn, packets - 1), last, outcome) : Next.NOTHING;
  }

  private Next takeAtomic(RocePacket answer, int psn, SendWorkRequest request) {
    original.putLong(0, answer.original());
    return acceptData(
        psn, true, Segments.scatter(context.host, request.buffers(), 0, original, 0, Long.BYTES));
  }

  private Next acceptData(int psn, boolean last, AccessResult outcome) {
    if (outcome != AccessResult.GRANTED) {
      return fail(CompletionStatus.LOC_PROT_ERR);
    }
    window.unacknowledged = Psn.next(psn);
    if (last) {
      window.completeHead();
    }
    return Next.NOTHING;
  }
}
