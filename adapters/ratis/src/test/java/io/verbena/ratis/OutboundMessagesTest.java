// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.BaseSubscriber;

class OutboundMessagesTest {
  private final AtomicInteger handedOn = new AtomicInteger();
  private final OutboundMessages queue = new OutboundMessages(handedOn::incrementAndGet);
  private final List<Integer> got = new ArrayList<>();
  private final BaseSubscriber<ByteBuf> subscriber =
      new BaseSubscriber<>() {
        @Override
        protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
          // Each test requests.
        }

        @Override
        protected void hookOnNext(ByteBuf message) {
          got.add(message.readInt());
          message.release();
        }
      };

  private static ByteBuf message(int number) {
    return Unpooled.buffer().writeInt(number);
  }

  @Test
  void handsOnInOrderAsFarAsAsked() {
    queue.offer(message(1));
    queue.subscribe(subscriber);
    queue.offer(message(2));
    queue.offer(message(3));

    subscriber.request(2);

    assertThat(got).containsExactly(1, 2);
    assertThat(handedOn).hasValue(2);
    queue.close();
  }

  @Test
  void removesWhatIsOfNoUseWhereverItStands() {
    List<ByteBuf> messages = IntStream.range(0, 6).mapToObj(OutboundMessagesTest::message).toList();
    messages.subList(0, 5).forEach(queue::offer);

    queue.removeIf(message -> message.getInt(0) % 2 == 0);
    queue.offer(messages.get(5));

    assertThat(messages).extracting(ByteBuf::refCnt).containsExactly(0, 1, 0, 1, 0, 1);
    queue.subscribe(subscriber);
    subscriber.request(10);
    assertThat(got).containsExactly(1, 3, 5);
  }

  @Test
  void releasesWhatWasLeftWhenItIsClosed() {
    ByteBuf held = message(1);
    queue.offer(held);
    queue.removeIf(message -> false);

    queue.close();

    assertThat(held.refCnt()).isZero();
  }

  @Test
  void releasesWhatItHoldsWhenItIsClosed() {
    ByteBuf held = message(1);
    queue.offer(held);

    queue.close();

    assertThat(held.refCnt()).isZero();
  }

  @Test
  void releasesWhatIsOfferedAfterACancel() {
    queue.subscribe(subscriber);
    subscriber.cancel();
    ByteBuf late = message(1);

    assertThat(queue.offer(late)).isFalse();
    assertThat(late.refCnt()).isZero();
  }
}
