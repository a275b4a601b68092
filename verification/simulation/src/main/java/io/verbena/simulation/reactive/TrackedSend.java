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

/** One send: its upstream, which keeps what it was asked for, and what became of it. */
final class TrackedSend extends BaseSubscriber<Void> implements Publisher<ByteBuf> {
  private final ConnectionEnd side;
  private final int id;
  private final int count;
  private final boolean late;
  private final List<ByteBuf> emitted = new ArrayList<>();
  private final List<Integer> lengths = new ArrayList<>();
  private @Nullable Subscriber<? super ByteBuf> downstream;
  private long demand;
  private int delivered;
  private boolean upstreamOver;
  private boolean given;
  private boolean emitting;
  private @Nullable String end;

  TrackedSend(ConnectionEnd side, int id, int count) {
    this.side = side;
    this.id = id;
    this.count = count;
    late = side.isClosing();
  }

  // ---- the upstream

  @Override
  public void subscribe(Subscriber<? super ByteBuf> subscriber) {
    Violation.require(downstream == null, "a second subscription to the upstream of", this);
    downstream = subscriber;
    subscriber.onSubscribe(new Asked());
  }

  /** What the send asks. */
  private final class Asked implements Subscription {
    @Override
    public void request(long n) {
      demand += n;
      side.checkCredits();
      if (side.chance(3)) {
        emit();
      }
    }

    @Override
    public void cancel() {
      upstreamOver = true;
      demand = 0;
    }
  }

  /** Cancels the send itself. */
  void giveUp() {
    given = true;
    dispose();
  }

  /** Emits what was asked for, or some of it; answers whether there was anything to do. */
  boolean emit() {
    Subscriber<? super ByteBuf> to = downstream;
    if (to == null || emitting || upstreamOver) {
      return false;
    }
    boolean worked = false;
    emitting = true;
    for (int most = side.upTo(8); most >= 0 && demand > 0 && emitted.size() < count; most--) {
      worked = true;
      demand--;
      int length = side.messageLength();
      ByteBuf buffer =
          side.chance(3)
              ? UnpooledByteBufAllocator.DEFAULT.heapBuffer(length)
              : side.allocate(length);
      TestMessage.write(buffer, id, emitted.size(), length);
      emitted.add(buffer);
      lengths.add(length);
      to.onNext(buffer);
    }
    emitting = false;
    if (emitted.size() == count && !upstreamOver) {
      upstreamOver = true;
      worked = true;
      to.onComplete();
    }
    return worked;
  }

  // ---- what became of it

  @Override
  protected void hookOnComplete() {
    ended("complete");
    side.claim(() -> Violation.require(emitted.size() == count, "not all was taken of", this));
  }

  @Override
  protected void hookOnError(Throwable error) {
    ended("error");
    side.failed("send " + id, error, late);
  }

  private void ended(String how) {
    side.claim(
        () -> {
          Violation.require(end == null, how + ", which was over:", this);
          Violation.require(!given, how + ", which was cancelled:", this);
        });
    end = how;
    side.tell(how, "send " + id);
  }

  boolean isOver() {
    return end != null || given;
  }

  boolean isComplete() {
    return "complete".equals(end);
  }

  /** Asked for and not emitted. */
  long demand() {
    return upstreamOver ? 0 : demand;
  }

  int undelivered() {
    return emitted.size() - delivered;
  }

  void deliver(ByteBuf message) {
    int number = TestMessage.number(message);
    Violation.require(number == delivered, "message " + number + " is not the next of", this);
    Violation.require(number < emitted.size(), "message " + number + " is not yet one of", this);
    Violation.require(
        message.readableBytes() == lengths.get(number) && TestMessage.isWhole(message),
        "message " + number + " is damaged, of",
        this);
    delivered++;
  }

  /** All that the peer has was delivered, if it took everything. */
  void requireDelivered() {
    Violation.require(!isComplete() || delivered == count, "not all was delivered of", this);
  }

  void requireReleased() {
    for (ByteBuf buffer : emitted) {
      Violation.require(buffer.refCnt() == 0, "somebody still holds a message of", this);
    }
  }

  @Override
  public String toString() {
    return "send "
        + id
        + " (emitted "
        + emitted.size()
        + " of "
        + count
        + ", delivered "
        + delivered
        + (given ? ", cancelled" : end == null ? "" : ", " + end)
        + ")";
  }
}
