// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.emulated.iwarp.stream.StreamTerms.Role;
import io.verbena.verbs.SendWorkRequest;

/** Two engines, and the two directions between them. */
final class StreamPair {
  /** Larger than what is copied, and than what is read directly. */
  static final int LARGE = 2600;

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

  /** With the atomics and immediate data of RFC 7306. */
  StreamPair startExtended(boolean crc, int depth) {
    passive.engine.start(new StreamTerms(crc, true, depth, depth, Role.PASSIVE));
    active.engine.start(new StreamTerms(crc, true, depth, depth, Role.ACTIVE_WRITES_FIRST));
    return this;
  }

  /** Has both do what there is to do. */
  void run() {
    boolean more = true;
    while (more) {
      boolean first = active.turn();
      more = passive.turn() || first;
    }
  }

  /** The memory of a program of each kind of request. */
  static final class Program {
    final Region from;
    final Region remote;
    final Region sink;
    final Region inbox;
    final Region killed;

    Program(StreamPair pair) {
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
