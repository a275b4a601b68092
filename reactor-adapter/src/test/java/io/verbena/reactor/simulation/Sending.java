package io.verbena.reactor.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/** One send: its upstream, which keeps what it was asked for, and what became of it. */
final class Sending extends BaseSubscriber<Void> implements Publisher<ByteBuf> {
  private final Side side;
  private final int id;
  private final int count;
  private final List<ByteBuf> emitted = new ArrayList<>();
  private final List<Integer> lengths = new ArrayList<>();
  private @Nullable Subscriber<? super ByteBuf> downstream;
  private long demand;
  private int delivered;
  private boolean upstreamOver;
  private boolean given;
  private boolean emitting;
  private @Nullable String end;

  Sending(Side side, int id, int count) {
    this.side = side;
    this.id = id;
    this.count = count;
  }

  // ---- the upstream

  @Override
  public void subscribe(Subscriber<? super ByteBuf> subscriber) {
    assertThat(downstream).as("subscriptions to a send's upstream").isNull();
    downstream = subscriber;
    subscriber.onSubscribe(new Asked());
  }

  /** What the send asks. */
  private final class Asked implements Subscription {
    @Override
    public void request(long n) {
      assertThat(n).isPositive();
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
      Message.write(buffer, id, emitted.size(), length);
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
    side.claim(() -> assertThat(emitted).as("messages of a complete send").hasSize(count));
  }

  @Override
  protected void hookOnError(Throwable error) {
    ended("error");
    side.justify("send", error);
  }

  private void ended(String how) {
    side.claim(
        () -> {
          assertThat(end).as("first end of send %s, then %s", id, how).isNull();
          assertThat(given).as("send %s was cancelled, then %s", id, how).isFalse();
        });
    end = how;
  }

  boolean isOver() {
    return end != null || given;
  }

  boolean isComplete() {
    return "complete".equals(end);
  }

  boolean wasGivenUp() {
    return given;
  }

  /** Asked for and not emitted. */
  long demand() {
    return upstreamOver ? 0 : demand;
  }

  int undelivered() {
    return emitted.size() - delivered;
  }

  void deliver(ByteBuf message) {
    int number = Message.number(message);
    assertThat(number).as("next message of send %s", id).isEqualTo(delivered);
    assertThat(number).as("messages of send %s that were emitted", id).isLessThan(emitted.size());
    assertThat(message.readableBytes()).as("length").isEqualTo(lengths.get(number));
    assertThat(Message.isWhole(message)).as("message %s of send %s is whole", number, id).isTrue();
    delivered++;
  }

  void checkAtEnd(boolean disturbed) {
    if (!disturbed && isComplete()) {
      assertThat(delivered).as("delivered messages of send %s", id).isEqualTo(count);
    }
  }

  void checkReleased() {
    for (ByteBuf buffer : emitted) {
      assertThat(buffer.refCnt()).as("references to a message of send %s", id).isZero();
    }
  }
}
