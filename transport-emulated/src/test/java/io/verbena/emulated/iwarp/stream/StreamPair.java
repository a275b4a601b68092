// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.emulated.iwarp.stream.StreamEngine.State;
import io.verbena.emulated.iwarp.stream.StreamTerms.Role;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;

/** Two engines and the two directions between them. */
final class StreamPair {
  /** Larger than the sizes that the engine copies or reads directly. */
  static final int LARGE = 2600;

  /** The value that a program writes into memory that it got back. */
  static final byte OTHERS = 0x5a;

  final TestPipe there = new TestPipe();
  final TestPipe back = new TestPipe();
  final StreamEnd active = new StreamEnd(back, there);
  final StreamEnd passive = new StreamEnd(there, back);

  StreamPair start(boolean crc) {
    return start(crc, 4);
  }

  StreamPair start(boolean crc, int depth) {
    passive.engine.start(new StreamTerms(crc, depth, depth, Role.PASSIVE));
    active.engine.start(new StreamTerms(crc, depth, depth, Role.ACTIVE_WRITES_FIRST));
    return this;
  }

  /** Starts both engines with the atomics and immediate data of RFC 7306. */
  StreamPair startExtended(boolean crc, int depth) {
    passive.engine.start(new StreamTerms(crc, true, depth, depth, Role.PASSIVE));
    active.engine.start(new StreamTerms(crc, true, depth, depth, Role.ACTIVE_WRITES_FIRST));
    return this;
  }

  /** Runs both ends until nothing is left to do. */
  void run() {
    boolean more = true;
    while (more) {
      boolean first = active.turn();
      more = passive.turn() || first;
    }
  }

  /** Returns the number of bytes that a program with each kind of request sends. */
  static int lengthThere(boolean crc) {
    StreamPair one = new StreamPair().start(crc);
    Program unused = new Program(one);
    one.run();
    return one.there.length();
  }

  void assertOpen() {
    assertThat(active.engine.state()).isEqualTo(State.OPEN);
    assertThat(passive.engine.state()).isEqualTo(State.OPEN);
    assertThat(passive.host.events).isEmpty();
  }

  /** Asserts that the passive end has ended the stream and the active end received the cause. */
  void assertEnded(TerminateCause cause) {
    assertThat(active.engine.peersCause()).isEqualTo(cause);
    assertThat(active.engine.state()).isEqualTo(State.ENDED);
    assertThat(passive.engine.state()).isEqualTo(State.ENDED);
    assertThat(active.host.moves).containsExactly(QueuePairState.ERR);
    assertThat(passive.host.moves).containsExactly(QueuePairState.ERR);
  }

  // ---- requests of all bytes of a region

  static SendWorkRequest send(long id, Region from) {
    return new SendWorkRequest(1).id(id).send().buffer(from.address, from.bytes.length, from.key);
  }

  static SendWorkRequest write(long id, Region from, Region into) {
    return new SendWorkRequest(1)
        .id(id)
        .write(into.address, into.key)
        .buffer(from.address, from.bytes.length, from.key);
  }

  static SendWorkRequest read(long id, Region from, Region into) {
    return new SendWorkRequest(1)
        .id(id)
        .read(from.address, from.key)
        .buffer(into.address, into.bytes.length, into.key);
  }

  // ---- a program

  /** A program with one request of each kind, and its memory. */
  static final class Program {
    private final StreamPair pair;
    final Region from;
    final Region remote;
    final Region sink;
    final Region inbox;
    final Region killed;

    Program(StreamPair pair) {
      this.pair = pair;
      from = filled(pair.active.host.register(2 * LARGE), 3);
      sink = pair.active.host.register(2 * LARGE);
      remote = filled(pair.passive.host.register(2 * LARGE), 5);
      inbox = pair.passive.host.register(4 * LARGE);
      killed = pair.passive.host.register(8);
      pair.passive.receive(1, inbox, 16);
      pair.passive.receive(2, inbox, LARGE);
      pair.passive.receive(3, inbox, 16);
      pair.active.post(new SendWorkRequest(1).id(1).send().buffer(from.address, 5, from.key));
      pair.active.post(
          new SendWorkRequest(1)
              .id(2)
              .write(remote.address, remote.key)
              .buffer(from.address, LARGE, from.key));
      SendWorkRequest read = new SendWorkRequest(2).id(3).read(remote.address, remote.key);
      read.buffers().add(sink.address, LARGE - 7, sink.key);
      read.buffers().add(sink.address + LARGE, 7, sink.key);
      pair.active.post(read);
      pair.active.post(new SendWorkRequest(1).id(4).write(0, 0));
      SendWorkRequest send = new SendWorkRequest(2).id(5).send().solicited();
      send.buffers().add(from.address, 1, from.key);
      send.buffers().add(from.address + 1, 1200, from.key);
      pair.active.post(send);
      pair.active.post(
          new SendWorkRequest(1)
              .id(6)
              .sendWithInvalidate(killed.key)
              .buffer(from.address, 3, from.key));
    }

    /** Asserts that all requests are done and all bytes are in place. */
    void assertCarried() {
      assertThat(pair.active.host.sendsDone)
          .extracting(Done::toString)
          .containsExactly(
              "1 SUCCESS SEND 5",
              "2 SUCCESS RDMA_WRITE " + LARGE,
              "3 SUCCESS RDMA_READ " + LARGE,
              "4 SUCCESS RDMA_WRITE 0",
              "5 SUCCESS SEND 1201",
              "6 SUCCESS SEND 3");
      assertThat(pair.passive.host.receivesDone)
          .extracting(Done::toString)
          .containsExactly("1 SUCCESS RECV 5", "2 SUCCESS RECV 1201", "3 SUCCESS RECV 3");
      assertThat(pair.passive.host.receivesDone)
          .extracting(Done::solicited)
          .containsExactly(false, true, false);
      assertThat(pair.passive.host.receivesDone.get(2).immediate()).isEqualTo(killed.key);
      assertThat(pair.passive.host.find(killed.key)).isNull();
      for (int i = 0; i < LARGE; i++) {
        if (remote.bytes[i] != pattern(3, i)
            || sink.bytes[i < LARGE - 7 ? i : i + 7] != pattern(3, i)
            || (i < 1201 && inbox.bytes[i] != pattern(3, i))) {
          throw new AssertionError("byte " + i + " differs");
        }
      }
      assertThat(pair.active.engine.state()).isEqualTo(State.OPEN);
    }
  }

  static Region filled(Region region, int seed) {
    for (int i = 0; i < region.bytes.length; i++) {
      region.bytes[i] = pattern(seed, i);
    }
    return region;
  }

  static byte pattern(int seed, int index) {
    return (byte) (1 + seed * 37 + index * 7 + (index >> 8) * 3);
  }
}
