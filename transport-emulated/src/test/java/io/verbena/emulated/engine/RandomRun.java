// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * One run of a reliable connection over a bad wire, determined by a seed. Both ends post a mix of
 * operations, each on its own bytes; each operation must succeed once and in order.
 */
final class RandomRun {
  private static final int OPERATIONS = 40;
  private static final int SLICE = 12_000;
  private static final Mtu[] MTUS = Mtu.values();
  private static final byte[] NOISE = new byte[1 << 20];

  static {
    new Random(0).nextBytes(NOISE);
  }

  private final Random random;
  private final Pair pair;
  private final Side a;
  private final Side b;
  private @Nullable TestGrants granted;

  RandomRun(long seed) {
    this(seed, false);
  }

  /**
   * Creates a run.
   *
   * @param adaptive whether the engines adapt to losses and split READs into parts
   */
  RandomRun(long seed, boolean adaptive) {
    random = new Random(seed);
    FlowControl flow =
        adaptive
            ? new FlowControl(
                1 + random.nextInt(20),
                1 + random.nextInt(5),
                true,
                /* lossless= */ (seed & 1) == 0)
            : FlowControl.FIXED;
    Mtu mtu = MTUS[random.nextInt(3)];
    int reads = 1 + random.nextInt(4);
    pair =
        Pair.reliable(
            flow,
            attributes ->
                attributes
                    .pathMtu(mtu)
                    .maxReadAtomic(reads)
                    .maxDestinationReadAtomic(reads)
                    .minRnrTimer(1 + random.nextInt(8))
                    .timeout(adaptive ? 14 : random.nextInt(4) + 3));
    a = new Side(pair.a, pair.b);
    b = new Side(pair.b, pair.a);
    int loss = random.nextInt(12);
    int doubling = random.nextInt(10);
    int delay = random.nextInt(20);
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (random.nextInt(100) >= loss) {
            delivery.after(flight(delay));
          }
          if (random.nextInt(100) < doubling) {
            delivery.after(flight(delay));
          }
        };
  }

  /** Lets packets refer to their payload. */
  RandomRun sharing() {
    pair.sharing();
    return this;
  }

  /** Lets the ends read granted memory without packets, and revokes grants at random. */
  RandomRun granting() {
    TestGrants grants = TestGrants.between(pair.sharing());
    granted = grants;
    grants.meanwhile =
        () -> {
          if (random.nextInt(4) == 0) {
            grants.revokeAll();
          }
        };
    return this;
  }

  /** Returns the number of READs that an end executed without packets. */
  int copies() {
    return granted == null ? 0 : granted.copies;
  }

  private long flight(int delay) {
    return random.nextInt(100) < delay ? random.nextInt(100_000) : TestWire.FLIGHT_NANOS;
  }

  void run() {
    a.begin();
    b.begin();
    pair.run();
    a.check();
    b.check();
  }

  int packets() {
    return pair.wire.sent.size();
  }

  /** One end of the run, with the operations that it posts to the other. */
  private final class Side {
    private final End end;
    private final End peer;
    private final Region from;
    private final Region to;
    private final byte[] expectedFrom;
    private final byte[] expectedTo;
    private final List<Integer> receiveLengths = new ArrayList<>();
    private final int counter = OPERATIONS * SLICE;
    private long added;
    private final List<Integer> atomicPlaces = new ArrayList<>();
    private final Queue<ReceiveWorkRequest> receives = new ArrayDeque<>();
    private int posted;

    Side(End end, End peer) {
      this.end = end;
      this.peer = peer;
      from = end.host.register(OPERATIONS * SLICE);
      to = peer.host.register(OPERATIONS * SLICE + 8);
      fill(from.bytes);
      fill(to.bytes);
      to.putLong(counter, 0);
      expectedFrom = from.bytes.clone();
      expectedTo = to.bytes.clone();
    }

    private void fill(byte[] bytes) {
      System.arraycopy(NOISE, random.nextInt(NOISE.length - bytes.length), bytes, 0, bytes.length);
    }

    void begin() {
      for (int i = 0; i < OPERATIONS; i++) {
        pair.time.after(random.nextInt(2_000_000), this::post);
      }
    }

    private void post() {
      int index = posted++;
      int at = index * SLICE;
      int length = random.nextInt(3) == 0 ? random.nextInt(20) : random.nextInt(SLICE);
      SendWorkRequest request = new SendWorkRequest().id(index);
      switch (random.nextInt(7)) {
        case 0 -> {
          receive(index, at, length);
          request.send();
        }
        case 1 -> {
          receive(index, at, length);
          request.sendWithImmediate(index);
        }
        case 2 -> request.write(to.address + at, to.key);
        case 3 -> {
          receive(index, at, length);
          request.writeWithImmediate(to.address + at, to.key, index);
        }
        case 4, 5 -> {
          request.read(to.address + at, to.key);
          System.arraycopy(expectedTo, at, expectedFrom, at, length);
          length = -length - 1;
        }
        default -> {
          request.fetchAndAdd(to.address + counter, to.key, 1 + index);
          added += 1 + index;
          atomicPlaces.add(at);
          length = -9;
        }
      }
      if (length >= 0) {
        System.arraycopy(expectedFrom, at, expectedTo, at, length);
      } else {
        length = -length - 1;
      }
      request.buffer(from.address + at, length, from.key);
      if (random.nextInt(8) == 0) {
        request.fence();
      }
      end.post(request.signaled());
    }

    private void receive(int index, int at, int length) {
      receiveLengths.add(length);
      receives.add(new ReceiveWorkRequest().id(index).buffer(to.address + at, length, to.key));
      pair.time.after(
          random.nextInt(4) == 0 ? random.nextInt(200_000) : 0,
          () -> peer.postReceive(receives.remove()));
    }

    void check() {
      List<Long> ids = new ArrayList<>();
      for (long i = 0; i < OPERATIONS; i++) {
        ids.add(i);
      }
      assertThat(end.host.sendsDone)
          .extracting(Done::status)
          .containsOnly(CompletionStatus.SUCCESS);
      assertThat(end.host.sendsDone).extracting(Done::id).isEqualTo(ids);
      assertThat(peer.host.receivesDone).extracting(Done::byteLength).isEqualTo(receiveLengths);
      assertThat(peer.host.receivesDone)
          .extracting(Done::status)
          .allMatch(status -> status == CompletionStatus.SUCCESS);
      assertThat(peer.host.atomicsDone).isEqualTo(atomicPlaces.size());
      assertThat(to.getLong(counter)).isEqualTo(added);
      long sum = 0;
      for (int at : atomicPlaces) {
        assertThat(from.getLong(at)).isEqualTo(sum);
        sum += 1 + at / SLICE;
        System.arraycopy(from.bytes, at, expectedFrom, at, Long.BYTES);
      }
      System.arraycopy(to.bytes, counter, expectedTo, counter, Long.BYTES);
      assertThat(Arrays.mismatch(from.bytes, expectedFrom)).isEqualTo(-1);
      assertThat(Arrays.mismatch(to.bytes, expectedTo)).isEqualTo(-1);
    }
  }
}
