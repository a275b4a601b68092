// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.netty.buffer.ByteBuf;
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
import io.verbena.reactor.wire.ProtocolException;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Hands each completion to its handler:
 *
 * <pre>
 *  receive, successful    MessageReceiver; for an immediate, ImmediateReceiver too
 *  receive, failed        none: the connection ends
 *  send, successful       the RequestOwner of the slot
 *  send, failed           the RequestOwner of the slot; then the connection ends
 * </pre>
 *
 * Receives that complete before the connection is open are kept, up to the peer's credits. Only on
 * the loop.
 */
final class CompletionRouter {
  private final SendSlots sends;
  private final MessageReceiver receiver;
  private final ImmediateReceiver immediates;
  private final GracefulClose close;
  private final FailureGuard guard;
  private final DutyCycleEnd turn;
  private final EndReason reason;
  private final int mostEarly;
  private final Terminable connection;
  private @Nullable ArrayDeque<Early> early = new ArrayDeque<>(0);
  private @Nullable FrameRouter frames;
  private @Nullable OneSidedOperations operations;

  /** A receive that completed before the connection was open. */
  private record Early(ByteBuf frame, WorkCompletion completion) {}

  /**
   * @param mostEarly frames that the peer may send before the connection is open
   */
  CompletionRouter(
      SendSlots sends,
      MessageReceiver receiver,
      ImmediateReceiver immediates,
      GracefulClose close,
      FailureGuard guard,
      DutyCycleEnd turn,
      EndReason reason,
      int mostEarly,
      Terminable connection) {
    this.sends = sends;
    this.receiver = receiver;
    this.immediates = immediates;
    this.close = close;
    this.guard = guard;
    this.turn = turn;
    this.reason = reason;
    this.mostEarly = mostEarly;
    this.connection = connection;
  }

  /** Routes to the open connection, first the completions that were kept, in their order. */
  void open(FrameRouter to, OneSidedOperations waiting) {
    frames = to;
    operations = waiting;
    ArrayDeque<Early> came = early;
    early = null;
    while (came != null && !came.isEmpty()) {
      Early next = came.remove();
      received(next.frame, next.completion);
    }
  }

  /** Gives back frames from now on, without reading them. */
  void discardReceived() {
    frames = null;
  }

  /** Gives back the frames whose completions were kept. */
  void discardEarly() {
    ArrayDeque<Early> came = early;
    early = null;
    while (came != null && !came.isEmpty()) {
      Early next = came.remove();
      guard.guarded(() -> receiver.drop(next.frame));
    }
  }

  /** Handles the completion of a receive; takes ownership of its frame. */
  void received(ByteBuf frame, WorkCompletion completion) {
    try {
      ArrayDeque<Early> parked = early;
      if (parked != null) {
        park(parked, frame, completion);
        return;
      }
      try {
        take(frame, completion);
      } catch (Throwable e) {
        // The rest of this frame is lost: nothing behind the gap may be delivered.
        discardReceived();
        throw e;
      }
    } catch (ProtocolException e) {
      connection.terminate(
          new ProtocolViolationException(
              "receive", reason.peer(), "the peer broke the protocol: " + e.getMessage(), e));
    } catch (Throwable e) {
      guard.broke(e);
    }
  }

  /**
   * Keeps a completion that arrives before this end's ESTABLISHED event: a fast peer may have sent
   * messages, or disconnected, by then. {@link #open} delivers both in their order.
   */
  private void park(ArrayDeque<Early> parked, ByteBuf frame, WorkCompletion completion) {
    if (completion.isSuccess() && parked.size() >= mostEarly) {
      receiver.drop(frame);
      throw ProtocolException.malformed("frames beyond the credits", 1, "0");
    }
    parked.add(new Early(frame, copy(completion)));
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

  private void take(ByteBuf frame, WorkCompletion completion) {
    FrameRouter to = frames;
    if (!completion.isSuccess()) {
      receiver.drop(frame);
      connection.terminate(
          completion.status() == CompletionStatus.WR_FLUSH_ERR
              ? reason.lost()
              : reason.failed("receive", completion.status()));
    } else if (to == null) {
      receiver.drop(frame);
    } else if (completion.opcode() == CompletionOpcode.RECV_RDMA_WITH_IMM) {
      receiver.notified(frame);
      immediates.arrived(completion.immediate(), completion.byteLength());
    } else {
      receiver.received(frame, completion.byteLength(), to);
    }
  }

  /** Handles the completion of a request of the send queue. */
  void sent(WorkCompletion completion) {
    try {
      retire(completion);
    } catch (Throwable e) {
      guard.broke(e);
    }
  }

  private void retire(WorkCompletion completion) {
    int sequence = WorkRequestId.sequence(completion.workRequestId());
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
