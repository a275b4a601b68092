// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.BaseSubscriber;

class SendQueueTest {
  private final SendQueue queue = new SendQueue();
  private final List<Integer> got = new ArrayList<>();
  private final BaseSubscriber<ByteBuf> subscriber =
      new BaseSubscriber<>() {
        @Override
        protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
          // Each test asks.
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
    queue.close();
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
