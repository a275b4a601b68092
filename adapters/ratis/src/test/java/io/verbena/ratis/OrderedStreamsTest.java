// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.util.ProtoUtils;
import org.junit.jupiter.api.Test;

class OrderedStreamsTest {
  private final OrderedStreams streams = new OrderedStreams();

  /** The stream of each sent request. */
  private final List<Integer> sent = new ArrayList<>();

  private final IntPredicate sends = sent::add;

  private static RaftRpcRequestProto request(long number, boolean isFirst, boolean toLeader) {
    return RaftRpcRequestProto.newBuilder()
        .setSlidingWindowEntry(ProtoUtils.toSlidingWindowEntry(number, isFirst))
        .setToLeader(toLeader)
        .build();
  }

  private boolean first(long number) {
    return streams.send(request(number, true, true), sends);
  }

  private boolean next(long number) {
    return streams.send(request(number, false, true), sends);
  }

  @Test
  void beginsWithAFirstRequestAndGoesOnWithTheNext() {
    assertThat(next(5)).isFalse();
    assertThat(first(5)).isTrue();
    assertThat(next(7)).isFalse();
    assertThat(next(6)).isTrue();
    assertThat(first(7)).isTrue();
    assertThat(sent).containsExactly(0, 0, 1);
  }

  @Test
  void doesNotGoOnBehindARequestThatWasNotSent() {
    assertThat(first(5)).isTrue();
    assertThat(streams.send(request(6, false, true), stream -> false)).isTrue();
    assertThat(next(7)).isFalse();
    assertThat(streams.send(request(6, true, true), stream -> false)).isTrue();
    assertThat(next(7)).isFalse();
  }

  @Test
  void doesNotGoOnWhenItHasFailed() {
    assertThat(first(5)).isTrue();
    streams.fail(0);
    assertThat(next(6)).isFalse();
    assertThat(first(6)).isTrue();
    assertThat(next(7)).isTrue();
  }

  @Test
  void windowsAreApart() {
    assertThat(first(5)).isTrue();
    assertThat(streams.send(request(1, true, false), sends)).isTrue();
    assertThat(streams.send(request(2, false, false), sends)).isTrue();
    assertThat(next(6)).isTrue();
    assertThat(sent).containsExactly(0, 1, 1, 0);
  }
}
