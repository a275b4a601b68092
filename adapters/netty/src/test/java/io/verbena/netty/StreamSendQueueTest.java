// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.core.loop.LinkedPosts;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.core.memory.Location;
import io.verbena.core.receive.Receives;
import io.verbena.meters.HcaMeter;
import io.verbena.netty.wire.Handshake;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsProviders;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the send queue of a stream whose requests are linked, as on an RNIC. */
class StreamSendQueueTest {
  private static final URI ADDRESS = URI.create("emulated://send-buffers?mode=async&seed=1");
  private static final int DEPTH = 32;
  private static final int LENGTH = 100;

  private final Device device = VerbsProviders.find(ADDRESS).open(ADDRESS);
  private final LinkedPosts linked = requireNonNull(LinkedPosts.of(device));

  /** The number of requests in each posted list. */
  private final List<Integer> lists = new ArrayList<>();

  /** The number of lists posted before each post of receives. */
  private final List<Integer> receives = new ArrayList<>();

  private final List<Throwable> broken = new ArrayList<>();

  /** The first sequence number that is refused. */
  private int refusedFrom = Integer.MAX_VALUE;

  private final StreamSendQueue sends =
      new StreamSendQueue(pair(), receives(), linked, broken::add, 0, DEPTH, HcaMeter.OFF, null);

  @AfterEach
  void close() {
    sends.release();
    device.close();
  }

  private QueuePair pair() {
    return (QueuePair)
        Proxy.newProxyInstance(
            StreamSendQueueTest.class.getClassLoader(),
            new Class<?>[] {QueuePair.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "postSend" -> post((SendWorkRequest) arguments[0]);
                  case "hashCode" -> System.identityHashCode(proxy);
                  case "equals" -> proxy == arguments[0];
                  default -> throw new AssertionError(method);
                });
  }

  private Receives receives() {
    return (Receives)
        Proxy.newProxyInstance(
            StreamSendQueueTest.class.getClassLoader(),
            new Class<?>[] {Receives.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("post");
              receives.add(lists.size());
              return null;
            });
  }

  private @Nullable Object post(SendWorkRequest first) {
    int count = 0;
    for (SendWorkRequest each = first; each != null; each = each.next()) {
      if (WorkRequestId.sequence(each.id()) >= refusedFrom) {
        throw new PostException(VerbsError.NO_MEMORY, each.id(), "refused by a test");
      }
      count++;
    }
    lists.add(count);
    return null;
  }

  private void open() {
    sends.open(new Handshake(1, false, 1 << 14, DEPTH), 1 << 14);
  }

  private ByteBuf send() {
    ByteBuf buffer = Unpooled.buffer(LENGTH).writeZero(LENGTH);
    sends.send(new Location(), LENGTH, buffer, 0, 0);
    return buffer;
  }

  @Test
  void postsWhatAFlushSendsAsOneList() {
    open();
    for (int i = 0; i < 5; i++) {
      send();
    }
    assertThat(lists).isEmpty();

    sends.postLinked();

    assertThat(lists).containsExactly(5);
  }

  /** The messages may give the peer credits for these receives. */
  @Test
  void postsReceivesAheadOfWhatItSends() {
    open();
    send();
    assertThat(receives).isEmpty();

    sends.postLinked();

    assertThat(receives).containsExactly(0);
    assertThat(lists).containsExactly(1);
  }

  @Test
  void postsInlineBytesAtOnceBehindWhatWaits() {
    open();
    send();
    send();

    sends.sendInline(ByteBuffer.allocate(8), 0, 0);

    assertThat(lists).containsExactly(3);
  }

  @Test
  void postsTheEndAtOnceBehindWhatWaits() {
    open();
    send();

    sends.end(0);

    assertThat(lists).containsExactly(2);
  }

  @Test
  void releasesWhatWasRefusedAndKeepsTheOthers() {
    open();
    ByteBuf taken = send();
    ByteBuf refused = send();
    ByteBuf behind = send();
    refusedFrom = 1;

    assertThatThrownBy(sends::postLinked).isInstanceOf(PostException.class);

    assertThat(broken).singleElement().isInstanceOf(PostException.class);
    assertThat(refused.refCnt()).isZero();
    assertThat(behind.refCnt()).isZero();
    assertThat(taken.refCnt()).isEqualTo(1);
    sends.completed(0, CompletionStatus.SUCCESS);
    assertThat(taken.refCnt()).isZero();
    assertThat(sends.isIdle()).isTrue();
  }

  @Test
  void tellsWhoFillsTheListThatItWasRefused() {
    open();
    refusedFrom = 0;
    List<ByteBuf> buffers = new ArrayList<>();

    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 20; i++) {
                buffers.add(send());
              }
            })
        .isInstanceOf(PostException.class);

    assertThat(buffers).hasSize(16).allSatisfy(each -> assertThat(each.refCnt()).isZero());
    assertThat(sends.isIdle()).isTrue();
  }
}
