// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaOptions;
import io.verbena.core.loop.LinkedPosts;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.verbs.Device;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsProviders;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how connections with their own receive queues post receives. */
@Tag("once")
class OwnReceivesTest {
  private static final URI ADDRESS = URI.create("emulated://own-receives?mode=async&seed=1");
  private static final int FRAME = 1024;
  private static final int FIRST = 4;
  private static final int CAPACITY = 64;

  private final Device device = VerbsProviders.find(ADDRESS).open(ADDRESS);
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final RegisteredMemory memory =
      new RegisteredMemory(domain, RdmaOptions.builder().build());
  private final ReceiveFrames source = new ReceiveFrames(memory, FRAME);
  private final LinkedPosts posts = requireNonNull(LinkedPosts.of(device));
  private final ReceiveQueues linked = new ReceiveQueues(source, posts);
  private final Connection one = new Connection(linked, 1);
  private final Connection other = new Connection(linked, 2);
  private final Connection direct = new Connection(new ReceiveQueues(source, null), 3);

  /** A connection with a queue pair that records each posted list. */
  private static final class Connection {
    final long prefix;

    /** Sequences of the receives in each posted list. */
    final List<List<Integer>> lists = new ArrayList<>();

    final List<Throwable> refusals = new ArrayList<>();
    final List<ByteBuf> frames = new ArrayList<>();
    final OwnReceives receives;

    /** Thrown by the next post, after {@link #refusedAt} receives. */
    private RuntimeException throwing;

    private int refusedAt;
    private Runnable onRefusal = () -> {};

    Connection(ReceiveQueues queues, long number) {
      prefix = number << 44;
      QueuePair pair =
          (QueuePair)
              Proxy.newProxyInstance(
                  OwnReceivesTest.class.getClassLoader(),
                  new Class<?>[] {QueuePair.class},
                  (proxy, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("postReceive");
                    note((ReceiveWorkRequest) arguments[0]);
                    return null;
                  });
      receives =
          queues.open(
              pair,
              prefix,
              CAPACITY,
              why -> {
                refusals.add(why);
                onRefusal.run();
              });
      receives.fill(FIRST);
    }

    private void note(ReceiveWorkRequest first) {
      RuntimeException thrown = throwing;
      throwing = null;
      List<Integer> list = new ArrayList<>();
      for (ReceiveWorkRequest each = first; each != null; each = each.next()) {
        assertThat(each.id())
            .isEqualTo(WorkRequestId.receive(prefix, WorkRequestId.sequence(each.id())));
        if (thrown != null && list.size() == refusedAt) {
          lists.add(list);
          throw thrown;
        }
        list.add(WorkRequestId.sequence(each.id()));
      }
      lists.add(list);
    }

    /** Refuses the next list from index {@code at} on, where the receive has this sequence. */
    void refuse(int at, int sequence) {
      refusedAt = at;
      throwing =
          new PostException(
              VerbsError.NO_MEMORY, WorkRequestId.receive(prefix, sequence), "refused by a test");
    }

    void take(int count) {
      for (int i = 0; i < count; i++) {
        frames.add(receives.take(receives.completed()));
      }
    }

    void giveBack(int count) {
      for (int i = 0; i < count; i++) {
        receives.giveBack(frames.remove(0));
      }
    }

    void release() {
      frames.forEach(ByteBuf::release);
      receives.release();
    }
  }

  @AfterEach
  void close() {
    for (Connection each : List.of(one, other, direct)) {
      each.release();
    }
    memory.close();
    domain.close();
    device.close();
  }

  private static List<Integer> sequences(int from, int to) {
    return IntStream.range(from, to).boxed().toList();
  }

  @Test
  void postsTheFirstAtOnce() {
    assertThat(one.lists).containsExactly(sequences(0, 4));
    assertThat(direct.lists).containsExactly(sequences(0, 4));
  }

  @Test
  void postsEachAtOnceWhereAPostCostsNothing() {
    direct.take(2);

    direct.giveBack(2);
    assertThat(direct.receives.grow(1)).isEqualTo(1);

    assertThat(direct.lists.subList(1, 4))
        .containsExactly(sequences(4, 5), sequences(5, 6), sequences(6, 7));
  }

  @Test
  void postsWhatADutyCycleGivesBackAndGrantsAsOneList() {
    one.take(3);

    one.giveBack(3);
    assertThat(one.receives.grow(4)).isEqualTo(4);
    assertThat(one.lists).hasSize(1);
    posts.post();
    posts.post();

    assertThat(one.lists).containsExactly(sequences(0, 4), sequences(4, 11));
  }

  @Test
  void postsMoreThanAListTakesAsSeveral() {
    assertThat(one.receives.grow(36)).isEqualTo(36);

    posts.post();

    assertThat(one.lists)
        .containsExactly(sequences(0, 4), sequences(4, 20), sequences(20, 36), sequences(36, 40));
    one.take(40);
    assertThat(one.receives.flushed()).isEqualTo(Receives.Flush.DONE);
  }

  @Test
  void postsAListForEachConnection() {
    one.take(3);
    other.take(2);
    for (Connection each : List.of(one, other, one, other, one)) {
      each.giveBack(1);
    }

    posts.post();

    assertThat(one.lists).containsExactly(sequences(0, 4), sequences(4, 7));
    assertThat(other.lists).containsExactly(sequences(0, 4), sequences(4, 6));
  }

  /** The sends give credits to the connection's own peer only. */
  @Test
  void postsThoseOfAConnectionAloneAheadOfItsSends() {
    one.take(2);
    one.giveBack(2);
    other.take(2);
    other.giveBack(1);

    one.receives.post();
    other.giveBack(1);
    posts.post();

    assertThat(one.lists).containsExactly(sequences(0, 4), sequences(4, 6));
    assertThat(other.lists).containsExactly(sequences(0, 4), sequences(4, 6));
  }

  @Test
  void tellsWhoseReceivesWereRefusedAndGoesOn() {
    one.take(3);
    List<ByteBuf> given = List.copyOf(one.frames);
    one.giveBack(3);
    other.take(2);
    other.giveBack(2);
    one.refuse(1, 5);

    posts.post();

    assertThat(one.refusals).singleElement().isInstanceOf(PostException.class);
    assertThat(one.lists).containsExactly(sequences(0, 4), sequences(4, 5));
    assertThat(given).extracting(ByteBuf::refCnt).containsExactly(1, 0, 0);
    assertThat(other.refusals).isEmpty();
    assertThat(other.lists).containsExactly(sequences(0, 4), sequences(4, 6));
  }

  @Test
  void knowsTheReceivesThatWereTakenBeforeARefusedOne() {
    one.take(3);
    one.giveBack(3);
    one.refuse(1, 5);
    posts.post();

    one.take(2);

    assertThat(one.receives.flushed()).isEqualTo(Receives.Flush.DONE);
    assertThatThrownBy(() -> one.take(1)).isInstanceOf(IllegalStateException.class);
    one.giveBack(2);
    posts.post();
    assertThat(one.lists).last().isEqualTo(sequences(5, 7));
  }

  @Test
  void dropsAllListsBehindARefusedOne() {
    one.receives.grow(36);
    one.refuse(15, 19);

    posts.post();

    assertThat(one.refusals).hasSize(1);
    assertThat(one.lists).containsExactly(sequences(0, 4), sequences(4, 19));
    one.take(19);
    assertThat(one.receives.flushed()).isEqualTo(Receives.Flush.DONE);
  }

  @Test
  void takesAllForRefusedWhereTheProviderThrowsSomethingElse() {
    one.take(2);
    one.giveBack(2);
    one.refuse(0, 4);
    one.throwing = new IllegalStateException("no provider should");

    posts.post();

    assertThat(one.refusals).singleElement().isInstanceOf(IllegalStateException.class);
    one.take(2);
    assertThat(one.receives.flushed()).isEqualTo(Receives.Flush.DONE);
  }

  /** The connection ends, which may make other connections give back receives. */
  @Test
  void postsWhatIsGivenBackWhileItTellsOfARefusal() {
    one.take(1);
    one.giveBack(1);
    other.take(1);
    one.refuse(0, 4);
    one.onRefusal = () -> other.giveBack(1);

    posts.post();

    assertThat(other.lists).containsExactly(sequences(0, 4), sequences(4, 5));
  }

  @Test
  void throwsWhereTheFirstAreRefused() {
    one.refuse(2, 6);

    assertThatThrownBy(() -> one.receives.fill(4)).isInstanceOf(PostException.class);

    assertThat(one.refusals).isEmpty();
    one.take(6);
    assertThat(one.receives.flushed()).isEqualTo(Receives.Flush.DONE);
  }

  @Test
  void throwsAndDropsTheFrameWhereAPostCostsNothing() {
    direct.take(1);
    ByteBuf frame = direct.frames.get(0);
    direct.refuse(0, 4);

    assertThatThrownBy(() -> direct.giveBack(1)).isInstanceOf(PostException.class);

    assertThat(frame.refCnt()).isZero();
    assertThat(direct.refusals).isEmpty();
    direct.take(3);
    assertThat(direct.receives.flushed()).isEqualTo(Receives.Flush.DONE);
  }

  @Test
  void postsNothingThatWaitsOnceItIsHalted() {
    one.take(2);
    List<ByteBuf> given = List.copyOf(one.frames);
    one.giveBack(2);

    one.receives.halt();
    posts.post();

    assertThat(one.lists).hasSize(1);
    assertThat(one.receives.flushed()).isEqualTo(Receives.Flush.UNDER_WAY);
    one.take(2);
    assertThat(one.receives.flushed()).isEqualTo(Receives.Flush.DONE);
    one.receives.release();
    assertThat(given).extracting(ByteBuf::refCnt).containsExactly(0, 0);
  }

  @Test
  void releasesWhatWaitsWithTheOthers() {
    one.take(2);
    List<ByteBuf> given = List.copyOf(one.frames);
    one.giveBack(2);

    one.receives.release();
    posts.post();

    assertThat(one.lists).hasSize(1);
    assertThat(given).extracting(ByteBuf::refCnt).containsExactly(0, 0);
  }

  @Test
  void hasNoMoreThanItsCapacityThoughSomeWait() {
    assertThat(one.receives.grow(100)).isEqualTo(CAPACITY - FIRST);
    posts.post();

    assertThat(one.receives.grow(1)).isZero();
  }

  @Test
  void leavesTheSecondHalfOfTheMemoryToMessages() {
    try (RegisteredMemory little =
        new RegisteredMemory(domain, RdmaOptions.builder().maxRegisteredBytes(1 << 20).build())) {
      Connection connection =
          new Connection(new ReceiveQueues(new ReceiveFrames(little, FRAME), null), 4);
      ByteBuf messages = little.allocator().directBuffer(700 << 10);

      assertThat(connection.receives.grow(1)).isZero();
      connection.take(1);
      connection.giveBack(1);
      assertThat(connection.lists).containsExactly(sequences(0, 4), sequences(4, 5));

      messages.release();
      connection.release();
    }
  }
}
