// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;
import java.util.Arrays;

/** Each operation of a reliable connection, with the checks of its result. */
enum Operation {
  SEND(2500) {
    @Override
    void post(Pair pair, long id) {
      pair.a.post(pair.send(id, FROM, length));
    }
  },
  SEND_WITH_IMM(1024) {
    @Override
    void post(Pair pair, long id) {
      pair.a.post(pair.fill(new SendWorkRequest().id(id).sendWithImmediate(77), FROM, length));
    }
  },
  SEND_OF_NOTHING(0) {
    @Override
    void post(Pair pair, long id) {
      pair.a.post(pair.send(id, FROM, length));
    }
  },
  SEND_INLINE(1500) {
    @Override
    void post(Pair pair, long id) {
      pair.a.post(
          new SendWorkRequest()
              .id(id)
              .send()
              .signaled()
              .inline(java.nio.ByteBuffer.wrap(pair.atA.bytes, FROM, length)));
    }
  },
  WRITE(5000) {
    @Override
    void post(Pair pair, long id) {
      pair.a.post(pair.write(id, FROM, length, TO));
    }
  },
  WRITE_WITH_IMM(2048) {
    @Override
    void post(Pair pair, long id) {
      pair.a.post(
          pair.fill(
              new SendWorkRequest()
                  .id(id)
                  .writeWithImmediate(pair.atB.address + TO, pair.atB.key, 78),
              FROM,
              length));
    }
  },
  READ(4097) {
    @Override
    void post(Pair pair, long id) {
      pair.a.post(pair.read(id, FROM, length, TO));
    }
  },
  FETCH_AND_ADD(8) {
    @Override
    void post(Pair pair, long id) {
      pair.a.post(pair.fetchAndAdd(id, FROM, TO, 5));
    }
  },
  COMPARE_AND_SWAP(8) {
    @Override
    void post(Pair pair, long id) {
      pair.a.post(
          pair.fill(
              new SendWorkRequest()
                  .id(id)
                  .compareAndSwap(pair.atB.address + TO, pair.atB.key, pair.atB.getLong(TO), 4711),
              FROM,
              length));
    }
  };

  static final int FROM = 3_000;
  static final int TO = 16_000;

  final int length;

  Operation(int length) {
    this.length = length;
  }

  abstract void post(Pair pair, long id);

  boolean takesReceive() {
    return this == SEND_OF_NOTHING
        || this == SEND
        || this == SEND_WITH_IMM
        || this == SEND_INLINE
        || this == WRITE_WITH_IMM;
  }

  /** Runs the operation once on a fresh pair over any wire and checks the result. */
  void doOn(Pair pair) {
    if (takesReceive()) {
      pair.receiveAtB(900, TO, 8_000);
    }
    byte[] before = pair.atB.bytes.clone();
    long value = pair.atB.getLong(TO);
    post(pair, 1);
    pair.run();
    assertThat(pair.a.host.sendsDone)
        .extracting(Done::id, Done::status)
        .containsExactly(org.assertj.core.groups.Tuple.tuple(1L, CompletionStatus.SUCCESS));
    if (takesReceive()) {
      assertThat(pair.b.host.receivesDone).hasSize(1);
      Done received = pair.b.host.receivesDone.get(0);
      assertThat(received.status()).isEqualTo(CompletionStatus.SUCCESS);
      assertThat(received.byteLength()).isEqualTo(length);
    } else {
      assertThat(pair.b.host.receivesDone).isEmpty();
    }
    switch (this) {
      case READ ->
          assertThat(part(pair.atA.bytes, FROM, length)).isEqualTo(part(before, TO, length));
      case FETCH_AND_ADD, COMPARE_AND_SWAP -> {
        assertThat(pair.atA.getLong(FROM)).isEqualTo(value);
        assertThat(pair.atB.getLong(TO)).isEqualTo(this == FETCH_AND_ADD ? value + 5 : 4711);
        assertThat(pair.b.host.atomicsDone).isEqualTo(1);
      }
      default -> {
        assertThat(part(pair.atB.bytes, TO, length)).isEqualTo(part(pair.atA.bytes, FROM, length));
        assertThat(part(pair.atB.bytes, TO + length, 100))
            .isEqualTo(part(before, TO + length, 100));
      }
    }
  }

  static byte[] part(byte[] bytes, int from, int length) {
    return Arrays.copyOfRange(bytes, from, from + length);
  }
}
