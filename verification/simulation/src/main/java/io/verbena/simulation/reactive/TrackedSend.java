// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.verbena.simulation.scenario.Violation;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/**
 * One send of the connection. Publishes its messages on demand, and tracks their delivery and the
 * result of the send.
 */
final class TrackedSend extends BaseSubscriber<Void> implements Publisher<ByteBuf> {
  private final ConnectionEnd connectionEnd;
  private final int id;
  private final Step step;
  private final boolean startedWhileClosing;
  private final List<ByteBuf> emitted = new ArrayList<>();
  private final List<Integer> lengths = new ArrayList<>();
  private @Nullable Subscriber<? super ByteBuf> downstream;
  private long demand;
  private int delivered;
  private boolean upstreamEnded;
  private boolean cancelled;
  private boolean emitting;
  private Mischief.@Nullable Thrown thrown;
  private @Nullable String result;

  TrackedSend(ConnectionEnd connectionEnd, int id, Step step) {
    this.connectionEnd = connectionEnd;
    this.id = id;
    this.step = step;
    startedWhileClosing = connectionEnd.isClosing();
  }

  // ---- the upstream

  @Override
  public void subscribe(Subscriber<? super ByteBuf> subscriber) {
    Violation.require(downstream == null, "a second subscription to the upstream of", this);
    throwIf(Mischief.PUBLISHER_THROWS_ON_SUBSCRIBE);
    downstream = subscriber;
    subscriber.onSubscribe(new UpstreamSubscription());
  }

  private void throwIf(Mischief mischief) {
    Mischief.Thrown failure = misbehave(mischief);
    if (failure != null) {
      throw failure;
    }
  }

  /** Returns the exception to throw or fail with if this misbehavior is due now, or null. */
  private Mischief.@Nullable Thrown misbehave(Mischief mischief) {
    if (!connectionEnd.takeMischief(mischief)) {
      return null;
    }
    upstreamEnded = true;
    demand = 0;
    connectionEnd.dropsMessages();
    Mischief.Thrown failure = new Mischief.Thrown(mischief);
    thrown = failure;
    return failure;
  }

  /** The subscription through which the send requests messages. */
  private final class UpstreamSubscription implements Subscription {
    @Override
    public void request(long n) {
      throwIf(Mischief.PUBLISHER_THROWS_ON_REQUEST);
      demand += n;
      connectionEnd.checkCredits();
      if (connectionEnd.schedule().oneIn(3)) {
        emit();
      }
    }

    @Override
    public void cancel() {
      upstreamEnded = true;
      demand = 0;
      throwIf(Mischief.PUBLISHER_THROWS_ON_CANCEL);
    }
  }

  /** Cancels the send. */
  void cancelSend() {
    cancelled = true;
    dispose();
  }

  /** Returns whether {@link #emit} has something to do. */
  boolean canEmit() {
    return downstream != null
        && !emitting
        && !upstreamEnded
        && (demand > 0 || emitted.size() == step.count());
  }

  /**
   * Emits some or all of the requested messages. Returns whether it emitted or completed anything.
   */
  boolean emit() {
    Subscriber<? super ByteBuf> to = downstream;
    if (to == null || emitting || upstreamEnded) {
      return false;
    }
    Mischief.Thrown failure = demand > 0 ? misbehave(Mischief.PUBLISHER_FAILS) : null;
    if (failure != null) {
      to.onError(failure);
      return true;
    }
    boolean worked = false;
    emitting = true;
    for (int left = connectionEnd.schedule().below(9);
        left >= 0 && demand > 0 && emitted.size() < step.count();
        left--) {
      worked = true;
      demand--;
      int index = emitted.size();
      int length = Math.min(step.maxLength(), connectionEnd.messageLength(step.seed(), index));
      ByteBuf buffer =
          Choice.HEAP_BUFFER.oneIn(3, step.seed(), index)
              ? UnpooledByteBufAllocator.DEFAULT.heapBuffer(length)
              : connectionEnd.allocate(length);
      TestMessage.write(buffer, id, index, length);
      emitted.add(buffer);
      lengths.add(length);
      to.onNext(buffer);
    }
    emitting = false;
    if (emitted.size() == step.count() && !upstreamEnded) {
      upstreamEnded = true;
      worked = true;
      to.onComplete();
    }
    return worked;
  }

  // ---- the result of the send

  @Override
  protected void hookOnComplete() {
    onEnd("complete");
    connectionEnd.verify(
        () -> Violation.require(thrown == null, "completed though its publisher threw:", this));
    connectionEnd.verify(
        () ->
            Violation.require(
                emitted.size() == step.count(),
                "completed before all messages were emitted:",
                this));
  }

  @Override
  protected void hookOnError(Throwable error) {
    onEnd("error");
    // An exception of the publisher fails the send unchanged, which is expected.
    if (error != thrown) {
      connectionEnd.failed(
          "send " + id, error, startedWhileClosing || connectionEnd.peer().mayDiscard());
    }
  }

  private void onEnd(String how) {
    connectionEnd.verify(
        () -> {
          Violation.require(result == null, how + " after the end of", this);
          Violation.require(!cancelled, how + " after the cancellation of", this);
        });
    result = how;
    connectionEnd.trace(how, "send " + id);
  }

  boolean isEnded() {
    return result != null || cancelled;
  }

  boolean isComplete() {
    return "complete".equals(result);
  }

  /** Returns the number of messages that were requested and not emitted. */
  long demand() {
    return upstreamEnded ? 0 : demand;
  }

  long seed() {
    return step.seed();
  }

  int undelivered() {
    return emitted.size() - delivered;
  }

  void deliver(ByteBuf message) {
    int index = TestMessage.index(message);
    if (index != delivered) {
      throw new Violation("message " + index + " is not the next of " + this);
    }
    Violation.require(index < emitted.size(), "this message was not emitted yet:", this);
    Violation.require(
        message.readableBytes() == lengths.get(index) && TestMessage.isIntact(message),
        "the next message is damaged:",
        this);
    delivered++;
  }

  /** Checks that a completed send delivered all its messages. */
  void requireDelivered() {
    Violation.require(
        !isComplete() || delivered == step.count(),
        "completed without delivering all messages:",
        this);
  }

  /** Checks that all heap buffers were released; direct ones may be in use by others again. */
  void requireHeapBuffersReleased() {
    for (ByteBuf buffer : emitted) {
      Violation.require(
          buffer.isDirect() || buffer.refCnt() == 0, "a message was not released, of", this);
    }
  }

  /** Checks that all messages were released. Called after the end of the transport. */
  void requireReleased() {
    for (ByteBuf buffer : emitted) {
      Violation.require(buffer.refCnt() == 0, "a message was not released, of", this);
    }
  }

  @Override
  public String toString() {
    return "send "
        + id
        + " (emitted "
        + emitted.size()
        + " of "
        + step.count()
        + ", delivered "
        + delivered
        + (cancelled ? ", cancelled" : result == null ? "" : ", " + result)
        + ")";
  }
}
