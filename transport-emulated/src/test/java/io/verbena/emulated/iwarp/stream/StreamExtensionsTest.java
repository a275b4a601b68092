// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import static io.verbena.emulated.iwarp.stream.StreamPair.LARGE;
import static io.verbena.emulated.iwarp.stream.StreamPair.filled;
import static io.verbena.emulated.iwarp.stream.StreamPair.pattern;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.emulated.iwarp.stream.StreamEngine.State;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Atomics and immediate data between two engines over a stream that is cut, broken or changed. */
@Tag("once")
class StreamExtensionsTest {
  /** Short enough for the engine to copy, so that a short stream has all kinds of messages. */
  private static final int SHORT = 40;

  private static final long FIRST = 37;
  private static final long ADDED = 47;
  private static final long SWAPPED = 99;

  private final StreamPair pair = new StreamPair();

  /** A program with one request of each kind, and its memory. */
  private static final class Program {
    final StreamPair pair;
    final int length;
    final Region from;
    final Region results;
    final Region sink;
    final Region remote;
    final Region counter;

    Program(StreamPair pair, int length) {
      this.pair = pair;
      this.length = length;
      from = filled(pair.active.host.register(length), 3);
      results = pair.active.host.register(16);
      sink = pair.active.host.register(length);
      remote = pair.passive.host.register(length);
      counter = pair.passive.host.register(24);
      counter.putLong(8, FIRST);
      Region inbox = pair.passive.host.register(64);
      pair.passive.receive(1, inbox, 16);
      pair.passive.receive(2, inbox, 16);
      pair.passive.receive(3, inbox, 16);
      pair.active.post(
          new SendWorkRequest(1)
              .id(1)
              .fetchAndAdd(counter.address + 8, counter.key, ADDED - FIRST)
              .buffer(results.address, 8, results.key));
      pair.active.post(
          new SendWorkRequest(1)
              .id(2)
              .writeWithImmediate(remote.address, remote.key, 0xcafe_babe)
              .solicited()
              .buffer(from.address, length, from.key));
      pair.active.post(
          new SendWorkRequest(1)
              .id(3)
              .read(remote.address, remote.key)
              .buffer(sink.address, length, sink.key));
      SendWorkRequest swap =
          new SendWorkRequest(2)
              .id(4)
              .compareAndSwap(counter.address + 8, counter.key, ADDED, SWAPPED);
      swap.buffers().add(results.address + 8, 3, results.key);
      swap.buffers().add(results.address + 11, 5, results.key);
      pair.active.post(swap);
      pair.active.post(new SendWorkRequest(0).id(5).writeWithImmediate(0, 0, 77));
      pair.active.post(new SendWorkRequest(1).id(6).send().buffer(from.address, 3, from.key));
    }

    void assertCarried() {
      assertThat(pair.active.host.sendsDone)
          .extracting(Done::toString)
          .containsExactly(
              "1 SUCCESS FETCH_ADD 8",
              "2 SUCCESS RDMA_WRITE " + length,
              "3 SUCCESS RDMA_READ " + length,
              "4 SUCCESS COMP_SWAP 8",
              "5 SUCCESS RDMA_WRITE 0",
              "6 SUCCESS SEND 3");
      List<Done> received = pair.passive.host.receivesDone;
      assertThat(received)
          .extracting(Done::toString)
          .containsExactly(
              "1 SUCCESS RECV_RDMA_WITH_IMM " + length,
              "2 SUCCESS RECV_RDMA_WITH_IMM 0",
              "3 SUCCESS RECV 3");
      assertThat(received).extracting(Done::immediate).containsExactly(0xcafe_babe, 77, 0);
      assertThat(received).extracting(Done::solicited).containsExactly(true, false, false);
      assertThat(results.getLong(0)).isEqualTo(FIRST);
      assertThat(results.getLong(8)).isEqualTo(ADDED);
      assertThat(counter.getLong(8)).isEqualTo(SWAPPED);
      assertThat(counter.getLong(0)).isZero();
      assertThat(counter.getLong(16)).isZero();
      for (int i = 0; i < length; i++) {
        if (remote.bytes[i] != pattern(3, i) || sink.bytes[i] != pattern(3, i)) {
          throw new AssertionError("byte " + i + " differs");
        }
      }
      assertThat(pair.active.engine.state()).isEqualTo(State.OPEN);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void carriesEachKindOfRequest(boolean crc) {
    Program program = new Program(pair.startExtended(crc, 4), LARGE);

    pair.run();

    program.assertCarried();
  }

  @Test
  void carriesThemHoweverTheStreamIsCut() {
    int end = lengthThere();
    for (int cut = 1; cut < end; cut++) {
      StreamPair one = new StreamPair().startExtended(true, 4);
      one.there.cutAt = cut;
      one.back.cutAt = cut;
      Program program = new Program(one, SHORT);

      one.run();

      program.assertCarried();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 64, 1000})
  void carriesThemInPieces(int most) {
    pair.startExtended(true, 4);
    pair.there.most = most;
    pair.back.most = most;
    Program program = new Program(pair, LARGE);

    pair.run();

    program.assertCarried();
  }

  @Test
  void completesEachRequestOnceWhereverTheStreamBreaks() {
    int end = lengthThere();
    for (int at = 0; at <= end; at++) {
      StreamPair one = new StreamPair().startExtended(true, 4);
      one.there.brokenAt = at;
      one.back.brokenAt = Math.max(1, at / 2);
      Program program = new Program(one, SHORT);

      one.run();
      one.active.engine.lost();
      one.passive.engine.lost();

      List<Done> sent = one.active.host.sendsDone;
      assertThat(sent.stream().map(Done::id))
          .as("broken at %d", at)
          .containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
      assertThat(one.passive.host.receivesDone.stream().map(Done::id)).containsExactly(1L, 2L, 3L);
      assertConsistent(program, sent);
    }
  }

  /** The CRC reveals a changed byte before an atomic runs. */
  @Test
  void doesNoAtomicWrongWhateverByteIsChanged() {
    int end = lengthThere();
    for (int at = 0; at < end; at++) {
      StreamPair one = new StreamPair().startExtended(true, 4);
      one.there.changedAt = at;
      Program program = new Program(one, SHORT);

      one.run();
      one.active.engine.lost();
      one.passive.engine.lost();

      assertThat(one.passive.host.receivesDone.get(2).status())
          .as("changed at %d", at)
          .isNotEqualTo(CompletionStatus.SUCCESS);
      assertConsistent(program, one.active.host.sendsDone);
    }
  }

  private static void assertConsistent(Program program, List<Done> sent) {
    long now = program.counter.getLong(8);
    assertThat(now).isIn(FIRST, ADDED, SWAPPED);
    if (sent.get(0).status() == CompletionStatus.SUCCESS) {
      assertThat(program.results.getLong(0)).isEqualTo(FIRST);
      assertThat(now).isNotEqualTo(FIRST);
    }
    if (sent.get(3).status() == CompletionStatus.SUCCESS) {
      assertThat(program.results.getLong(8)).isEqualTo(ADDED);
      assertThat(now).isEqualTo(SWAPPED);
    }
  }

  /** The response to the first READ stays in memory that the atomic changes, until it is sent. */
  @Test
  void doesAnAtomicBehindTheReadsBeforeIt() {
    pair.startExtended(false, 4);
    pair.back.most = 100;
    int at = LARGE - 8;
    Region remote = pair.passive.host.register(LARGE);
    remote.putLong(at, 5);
    Region first = pair.active.host.register(LARGE);
    Region second = pair.active.host.register(LARGE);
    Region result = pair.active.host.register(8);
    pair.active.post(read(1, remote, first));
    pair.active.post(
        new SendWorkRequest(1)
            .id(2)
            .fetchAndAdd(remote.address + at, remote.key, 1)
            .buffer(result.address, 8, result.key));
    pair.active.post(read(3, remote, second));

    pair.run();

    assertThat(pair.active.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly(
            "1 SUCCESS RDMA_READ " + LARGE,
            "2 SUCCESS FETCH_ADD 8",
            "3 SUCCESS RDMA_READ " + LARGE);
    assertThat(first.getLong(at)).isEqualTo(5);
    assertThat(result.getLong(0)).isEqualTo(5);
    assertThat(second.getLong(at)).isEqualTo(6);
  }

  private static SendWorkRequest read(long id, Region from, Region into) {
    return new SendWorkRequest(1)
        .id(id)
        .read(from.address, from.key)
        .buffer(into.address, LARGE, into.key);
  }

  @Test
  void asksForNoMoreReadsAndAtomicsTogetherThanThePeerServes() {
    pair.startExtended(false, 2);
    Region sink = pair.active.host.register(8);
    Region remote = pair.passive.host.register(8);
    for (int id = 1; id <= 20; id++) {
      SendWorkRequest request = new SendWorkRequest(1).id(id);
      boolean reads = id % 2 == 0;
      pair.active.post(
          (reads
                  ? request.read(remote.address, remote.key)
                  : request.fetchAndAdd(remote.address, remote.key, 1))
              .buffer(sink.address, 8, sink.key));
    }

    pair.run();

    assertThat(pair.active.engine.state()).isEqualTo(State.OPEN);
    assertThat(pair.active.host.sendsDone).hasSize(20);
    assertThat(remote.getLong(0)).isEqualTo(10);
  }

  @Test
  void waitsAtAFenceForAnAtomic() {
    pair.startExtended(false, 4);
    Region result = pair.active.host.register(8);
    Region counter = pair.passive.host.register(8);
    counter.putLong(0, 7);
    Region inbox = pair.passive.host.register(8);
    pair.passive.receive(1, inbox, 8);
    pair.active.post(
        new SendWorkRequest(1)
            .id(1)
            .fetchAndAdd(counter.address, counter.key, 1)
            .buffer(result.address, 8, result.key));
    pair.active.post(
        new SendWorkRequest(1).id(2).send().fence().buffer(result.address, 8, result.key));

    pair.run();

    assertThat(inbox.getLong(0)).isEqualTo(7);
  }

  @Test
  void failsAnAtomicWhoseResultHasNotEightBytes() {
    assertFails(CompletionStatus.LOC_LEN_ERR, 4, 0x77);
  }

  @Test
  void failsAnAtomicWhoseResultMayNotBeWritten() {
    assertFails(CompletionStatus.LOC_PROT_ERR, 8, 0x77);
  }

  private void assertFails(CompletionStatus status, int length, int key) {
    pair.startExtended(false, 4);
    Region counter = pair.passive.host.register(8);
    pair.active.post(
        new SendWorkRequest(1)
            .id(1)
            .fetchAndAdd(counter.address, counter.key, 1)
            .buffer(0x1000, length, key));

    pair.run();

    assertThat(pair.active.host.sendsDone).extracting(Done::status).containsExactly(status);
    assertThat(counter.getLong(0)).isZero();
  }

  /** The queue pair already refuses these requests; this tests the engine's own check. */
  @Test
  void failsWhatThePeerHasNot() {
    assertFailsAtHome(false, new SendWorkRequest(1).fetchAndAdd(0, 0, 1));
    assertFailsAtHome(false, new SendWorkRequest(1).compareAndSwap(0, 0, 1, 2));
    assertFailsAtHome(false, new SendWorkRequest(1).writeWithImmediate(0, 0, 1));
    assertFailsAtHome(true, new SendWorkRequest(1).sendWithImmediate(1));
  }

  private static void assertFailsAtHome(boolean extended, SendWorkRequest request) {
    StreamPair one = extended ? new StreamPair().startExtended(false, 4) : new StreamPair();
    if (!extended) {
      one.start(false);
    }
    one.active.post(request.id(1));

    one.run();

    assertThat(one.active.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.LOC_QP_OP_ERR);
  }

  private static int lengthThere() {
    StreamPair one = new StreamPair().startExtended(true, 4);
    Program unused = new Program(one, SHORT);
    one.run();
    return one.there.length();
  }
}
