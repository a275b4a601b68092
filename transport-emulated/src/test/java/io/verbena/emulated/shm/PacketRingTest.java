// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.hca.KeyEntry;
import io.verbena.emulated.hca.Ownership;
import io.verbena.emulated.mapped.PayloadReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests packets through a ring, and writers that break the protocol. */
class PacketRingTest {
  private static final int CAPACITY = 1 << 10;
  private static final int READ = 128;
  private static final int DAMAGES = 100_000;

  private final ByteBuffer memory = ByteBuffer.allocateDirect(PacketRing.HEADER + CAPACITY);
  private PacketRing writer = new PacketRing(memory.duplicate());
  private PacketRing reader = new PacketRing(memory.duplicate());
  private final ByteBuffer room = ByteBuffer.allocate(CAPACITY);

  private static byte[] packet(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private byte[] read() {
    int length = reader.read(room.clear());
    byte[] bytes = new byte[length];
    room.get(0, bytes);
    return bytes;
  }

  @Test
  void packetsOfEveryLengthComeInTheirOrder() {
    Random random = new Random(1);
    ArrayDeque<byte[]> under = new ArrayDeque<>();
    int tag = 0;
    for (int i = 0; i < 100_000; i++) {
      byte[] packet = packet(random, 1 + random.nextInt(CAPACITY / 3));
      if (random.nextBoolean() && writer.write(i, ByteBuffer.wrap(packet))) {
        under.add(packet);
        writer.prepare();
      } else if (!under.isEmpty()) {
        assertThat(reader.isReadable()).isTrue();
        assertThat(read()).isEqualTo(under.remove());
        assertThat(reader.tag()).isGreaterThanOrEqualTo(tag);
        tag = reader.tag();
      }
    }
    while (!under.isEmpty()) {
      assertThat(read()).isEqualTo(under.remove());
    }
    assertThat(reader.read(room.clear())).isEqualTo(PacketRing.EMPTY);
    assertThat(reader.isReadable()).isFalse();
  }

  @Test
  void aFullRingTakesNoMoreUntilItIsRead() {
    Random random = new Random(2);
    int count = 0;
    while (writer.write(count, ByteBuffer.wrap(packet(random, 100)))) {
      count++;
    }
    // The length after the last record needs a place, too.
    assertThat(count).isEqualTo(CAPACITY / 128 - 1);
    assertThat(read()).hasSize(100);
    assertThat(read()).hasSize(100);
    assertThat(writer.write(count, ByteBuffer.wrap(packet(random, 100)))).isTrue();
  }

  @Test
  void whatCannotBeEndsTheRingAndNothingElse() {
    memory.order(ByteOrder.nativeOrder());
    for (int length : new int[] {-2, CAPACITY - 7, Integer.MAX_VALUE}) {
      memory.putInt(PacketRing.HEADER, length);
      assertThatThrownBy(() -> new PacketRing(memory.duplicate()).read(room.clear()))
          .isInstanceOf(CorruptRingException.class)
          .hasMessage("length of a record: " + length + " (expected: 0..1016)");
    }
  }

  @Test
  void whatTheWriterSaysOfTheReaderDoesNotKeepItAwake() {
    assertThat(writer.write(1, ByteBuffer.allocate(8))).isTrue();
    assertThat(reader.isReadable()).isTrue();
    assertThat(read()).hasSize(8);

    memory.order(ByteOrder.nativeOrder()).putLong(READ, 12_345);

    assertThat(reader.isReadable()).isFalse();
    assertThat(reader.read(room.clear())).isEqualTo(PacketRing.EMPTY);
  }

  @Test
  void damageOfEveryKindIsReadOrRefused() {
    Random random = new Random(3);
    int refused = 0;
    for (int i = 0; i < DAMAGES; i++) {
      for (int at = 0; at < memory.capacity(); at += Long.BYTES) {
        memory.putLong(at, random.nextInt(4) == 0 ? random.nextLong() : random.nextInt(64));
      }
      PacketRing damaged = new PacketRing(memory.duplicate());
      try {
        int reads = 0;
        while (reads < CAPACITY && damaged.read(room.clear()) != PacketRing.EMPTY) {
          reads++;
        }
      } catch (CorruptRingException e) {
        refused++;
      }
    }
    assertThat(refused).isPositive();
  }

  // ---- payload elsewhere

  private static final int QUEUE_PAIR = 17;
  private static final int KEY = 0x4711_08;
  private static final ByteBuffer HEADERS = ByteBuffer.wrap(new byte[] {1, 2, 3, 4});

  private static PayloadReference at(int offset, int queuePair) {
    PayloadReference place = new PayloadReference();
    place.place(5, offset, KEY);
    place.queuePair(queuePair);
    return place;
  }

  private boolean refer(int tag, int offset, int queuePair) {
    return writer.write(tag, HEADERS.duplicate(), 9000, at(offset, queuePair));
  }

  @Test
  void aPacketSaysWhereItsPayloadIs() {
    assertThat(refer(0xffff, 4096, QUEUE_PAIR)).isTrue();
    assertThat(writer.write(3, ByteBuffer.allocate(40))).isTrue();

    assertThat(read()).containsExactly(1, 2, 3, 4);
    assertThat(reader.refers()).isTrue();
    assertThat(reader.tag()).isEqualTo(0xffff);
    assertThat(reader.slab()).isEqualTo(5);
    assertThat(reader.offset()).isEqualTo(4096);
    assertThat(reader.payload()).isEqualTo(9000);
    assertThat(reader.confirm()).isTrue();
    reader.release();
    assertThat(read()).hasSize(40);
    assertThat(reader.refers()).isFalse();
  }

  @Test
  void whatIsWithdrawnBeforeItIsConfirmedIsNotConfirmed() {
    assertThat(refer(1, 0, QUEUE_PAIR)).isTrue();
    assertThat(refer(2, 0, QUEUE_PAIR + 1)).isTrue();
    assertThat(refer(3, 0, QUEUE_PAIR)).isTrue();

    byte[] unused = read();
    assertThat(reader.confirm()).isTrue();
    writer.withdraw(QUEUE_PAIR);
    unused = read();
    assertThat(reader.confirm()).as("another queue pair's").isTrue();
    unused = read();
    assertThat(reader.confirm()).isFalse();
  }

  @Test
  void keysAreWithdrawnWithAllTheirTags() {
    assertThat(refer(1, 0, 0)).isTrue();
    assertThat(refer(2, 0, 0)).isTrue();

    writer.withdrawKeys(KEY + 0x100, KeyEntry.INDEX);
    byte[] unused = read();
    assertThat(reader.confirm()).as("of another entry").isTrue();
    writer.withdrawKeys(KEY + 1, KeyEntry.INDEX);
    unused = read();
    assertThat(reader.confirm()).isFalse();
  }

  @Test
  void theRoomOfAPacketIsKeptUntilItsPayloadIsCopied() {
    int count = 0;
    while (refer(count, 0, QUEUE_PAIR)) {
      count++;
    }
    byte[] unused = read();
    assertThat(refer(count, 0, QUEUE_PAIR)).isFalse();
    reader.release();
    assertThat(refer(count, 0, QUEUE_PAIR)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, -8, 1, 4, Long.MIN_VALUE, Long.MAX_VALUE})
  void withdrawingEndsWhereverTheReaderSaysThatItReads(long read) {
    assertThat(refer(1, 0, QUEUE_PAIR)).isTrue();

    memory.order(ByteOrder.nativeOrder()).putLong(READ, read);

    assertThatCode(() -> writer.withdraw(QUEUE_PAIR)).doesNotThrowAnyException();
  }

  @Test
  void withdrawingEndsWhateverTheReaderWrites() {
    Random random = new Random(6);
    for (int i = 0; i < DAMAGES; i++) {
      if (!refer(i & 0xffff, 0, QUEUE_PAIR)) {
        memory.put(0, new byte[memory.capacity()]);
        writer = new PacketRing(memory.duplicate());
      }
      memory.order(ByteOrder.nativeOrder());
      int at = random.nextInt(memory.capacity() / Integer.BYTES) * Integer.BYTES;
      memory.putInt(at, random.nextBoolean() ? random.nextInt() : random.nextInt(64) - 2);
      if (random.nextInt(8) == 0) {
        long read = random.nextInt(8 * CAPACITY);
        memory.putLong(READ, random.nextBoolean() ? random.nextLong() : read);
      }
      writer.withdraw(QUEUE_PAIR);
      writer.withdrawKeys(KEY, KeyEntry.INDEX);
      if (i % 100 == 0) {
        memory.put(0, new byte[memory.capacity()]);
        writer = new PacketRing(memory.duplicate());
        reader = new PacketRing(memory.duplicate());
      }
    }
  }

  @Test
  void withdrawingFindsAllRecordsHoweverTheyLie() {
    Random random = new Random(4);
    ArrayDeque<Integer> under = new ArrayDeque<>();
    int rounds = 200_000;
    boolean[] open = new boolean[4 * rounds + 4];
    for (int i = 0; i < rounds; i++) {
      int queuePair = 1 + random.nextInt(3);
      if (random.nextInt(20) == 0) {
        writer.withdraw(queuePair);
        under.stream().filter(each -> each % 4 == queuePair).forEach(each -> open[each] = false);
      } else if (random.nextBoolean()) {
        int id = 4 * i + queuePair;
        if (random.nextInt(4) == 0) {
          if (writer.write(0, ByteBuffer.allocate(1 + random.nextInt(CAPACITY / 3)))) {
            under.add(0);
          }
        } else if (writer.write(1, HEADERS.duplicate(), id, at(id, queuePair))) {
          under.add(id);
          open[id] = true;
        }
      } else if (!under.isEmpty()) {
        int unused = reader.read(room.clear());
        int id = under.remove();
        assertThat(reader.refers()).isEqualTo(id != 0);
        if (id != 0) {
          assertThat(reader.payload()).isEqualTo(id);
          assertThat(reader.confirm()).as("record %s", id).isEqualTo(open[id]);
        }
      }
    }
  }

  /** One thread withdraws and changes the payload while another copies it. */
  @Test
  void noConfirmedCopyHasBytesFromAfterAWithdrawal() throws Exception {
    int length = 2048;
    ByteBuffer payload = ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
    int rounds = 10_000;
    AtomicBoolean stopped = new AtomicBoolean();
    AtomicInteger done = new AtomicInteger();
    AtomicInteger confirmed = new AtomicInteger();
    CompletableFuture<Void> copies =
        CompletableFuture.runAsync(
            () -> {
              ByteBuffer copy = ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
              for (int i = 1; i <= rounds; i++) {
                for (int spins = 0; reader.read(room.clear()) == PacketRing.EMPTY; spins++) {
                  if (stopped.get()) {
                    return;
                  }
                  Ownership.pause(spins);
                }
                copy.put(0, payload, 0, length);
                if (reader.confirm()) {
                  confirmed.incrementAndGet();
                  for (int at = 0; at < length; at += Integer.BYTES) {
                    assertThat(copy.getInt(at)).as("round %s, at %s", i, at).isEqualTo(i);
                  }
                }
                reader.release();
                done.set(i);
              }
            });
    try {
      Random random = new Random(5);
      for (int i = 1; i <= rounds && !copies.isDone(); i++) {
        for (int at = 0; at < length; at += Integer.BYTES) {
          payload.putInt(at, i);
        }
        assertThat(writer.write(0, HEADERS.duplicate(), length, at(0, QUEUE_PAIR))).isTrue();
        if (i % 4 == 0) {
          // Makes sure that some copies are confirmed, however the threads are scheduled.
          for (int spins = 0; done.get() < i && !copies.isDone(); spins++) {
            Ownership.pause(spins);
          }
        }
        for (int spins = random.nextInt(400); spins > 0; spins--) {
          Thread.onSpinWait();
        }
        writer.withdraw(QUEUE_PAIR);
        for (int at = 0; at < length; at += Integer.BYTES) {
          payload.putInt(at, -i);
        }
        for (int spins = 0; done.get() < i && !copies.isDone(); spins++) {
          Ownership.pause(spins);
        }
      }
    } finally {
      stopped.set(true);
    }
    copies.get(60, TimeUnit.SECONDS);
    assertThat(confirmed.get()).isBetween(rounds / 4, rounds);
  }
}
