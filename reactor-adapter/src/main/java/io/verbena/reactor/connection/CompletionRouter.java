// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.ProtocolViolationException;
import io.verbena.RdmaException;
import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.onesided.OneSidedOperations;
import io.verbena.reactor.queue.RequestOwner;
import io.verbena.reactor.queue.SendSlots;
import io.verbena.reactor.receive.ImmediateReceiver;
import io.verbena.reactor.receive.MessageReceiver;
import io.verbena.reactor.receive.ReceiveSlots;
import io.verbena.reactor.wire.ProtocolException;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Hands each completion to whoever handles it, by its work request id:
 *
 * <pre>
 *  receive, successful    MessageReceiver, and for an immediate ImmediateReceiver
 *  receive, failed        nobody: the connection ends
 *  send                   the RequestOwner of the slot; failed, the connection ends too
 * </pre>
 *
 * Before the connection is open, completions are kept. Only on the loop.
 */
final class CompletionRouter {
  private final SendSlots sends;
  private final ReceiveSlots receives;
  private final MessageReceiver receiver;
  private final ImmediateReceiver immediates;
  private final GracefulClose close;
  private final FailureGuard guard;
  private final DutyCycleEnd turn;
  private final EndReason reason;
  private final Terminable connection;
  private @Nullable ArrayDeque<WorkCompletion> early = new ArrayDeque<>();
  private @Nullable FrameRouter frames;
  private @Nullable OneSidedOperations operations;

  CompletionRouter(
      SendSlots sends,
      ReceiveSlots receives,
      MessageReceiver receiver,
      ImmediateReceiver immediates,
      GracefulClose close,
      FailureGuard guard,
      DutyCycleEnd turn,
      EndReason reason,
      Terminable connection) {
    this.sends = sends;
    this.receives = receives;
    this.receiver = receiver;
    this.immediates = immediates;
    this.close = close;
    this.guard = guard;
    this.turn = turn;
    this.reason = reason;
    this.connection = connection;
  }

  /** The connection is open: routes what was kept, in its order. */
  void open(FrameRouter to, OneSidedOperations waiting) {
    frames = to;
    operations = waiting;
    ArrayDeque<WorkCompletion> came = early;
    early = null;
    while (came != null && !came.isEmpty()) {
      route(came.remove());
    }
  }

  /** From now on releases what is received. */
  void discardReceived() {
    frames = null;
  }

  /** Releases the receives whose completions were kept. */
  void discardEarly() {
    ArrayDeque<WorkCompletion> came = early;
    early = null;
    while (came != null && !came.isEmpty()) {
      receives.take(WorkRequestId.sequence(came.remove().workRequestId())).release();
    }
  }

  void route(WorkCompletion completion) {
    try {
      ArrayDeque<WorkCompletion> parked = early;
      if (parked != null) {
        // The peer is faster than our own event that the connection is established: it has sent,
        // or even gone, and whoever connects is told of both in their order.
        parked.add(copy(completion));
        return;
      }
      int sequence = WorkRequestId.sequence(completion.workRequestId());
      if (WorkRequestId.isReceive(completion.workRequestId())) {
        try {
          received(sequence, completion);
        } catch (Throwable e) {
          // The rest of this frame is lost: nothing behind the gap may be delivered.
          discardReceived();
          throw e;
        }
      } else {
        sent(sequence, completion);
      }
    } catch (ProtocolException e) {
      connection.terminate(
          new ProtocolViolationException(
              "receive", reason.peer(), "the peer broke the protocol: " + e.getMessage(), e));
    } catch (Throwable e) {
      guard.broke(e);
    }
  }

  private static WorkCompletion copy(WorkCompletion completion) {
    WorkCompletion copy = new WorkCompletion();
    if (completion.isSuccess()) {
      copy.set(
          completion.workRequestId(),
          completion.opcode(),
          completion.byteLength(),
          completion.immediate(),
          completion.queuePairNumber(),
          completion.sourceQueuePair(),
          completion.flags());
    } else {
      copy.setError(
          completion.workRequestId(),
          completion.status(),
          completion.vendorError(),
          completion.queuePairNumber());
    }
    return copy;
  }

  private void received(int sequence, WorkCompletion completion) {
    FrameRouter to = frames;
    if (!completion.isSuccess()) {
      receives.take(sequence).release();
      connection.terminate(
          completion.status() == CompletionStatus.WR_FLUSH_ERR
              ? reason.lost()
              : reason.failed("receive", completion.status()));
    } else if (to == null) {
      receives.take(sequence).release();
    } else if (completion.opcode() == CompletionOpcode.RECV_RDMA_WITH_IMM) {
      receiver.notified(sequence);
      immediates.arrived(completion.immediate(), completion.byteLength());
    } else {
      receiver.received(sequence, completion.byteLength(), to);
    }
  }

  private void sent(int sequence, WorkCompletion completion) {
    RequestOwner owner = sends.retireTo(sequence, completion.status(), guard);
    if (completion.isSuccess()) {
      SendSlots.succeed(owner, guard);
    } else {
      RdmaException error = reason.failed(owner.operation(), completion.status());
      try {
        owner.failed(error);
      } finally {
        connection.terminate(error);
      }
    }
    OneSidedOperations waiting = operations;
    if (close.isUnderway()
        || (waiting != null && waiting.isWaiting())
        || receiver.hasUnreadMessage()) {
      turn.ask();
    }
  }
}
