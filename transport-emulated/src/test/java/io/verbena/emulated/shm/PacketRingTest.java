// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Packets through a ring, and what a writer that breaks the rules can do. */
class PacketRingTest {
  private static final int CAPACITY = 1 << 10;
  private static final int WRITTEN = 64;
  private static final int READ = 128;
  private static final int DAMAGES = 100_000;

  private final ByteBuffer memory = ByteBuffer.allocateDirect(PacketRing.HEADER + CAPACITY);
  private final PacketRing writer = new PacketRing(memory.duplicate());
  private final PacketRing reader = new PacketRing(memory.duplicate());
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
      byte[] packet = packet(random, random.nextInt(CAPACITY / 3));
      if (random.nextBoolean() && writer.write(i, ByteBuffer.wrap(packet))) {
        under.add(packet);
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
    assertThat(count).isEqualTo(CAPACITY / 112);
    assertThat(read()).hasSize(100);
    assertThat(read()).hasSize(100);
    assertThat(writer.write(count, ByteBuffer.wrap(packet(random, 100)))).isTrue();
  }

  @Test
  void whatCannotBeEndsTheRingAndNothingElse() {
    memory.order(ByteOrder.nativeOrder());
    memory.putLong(WRITTEN, CAPACITY + 8);
    assertThatThrownBy(() -> reader.read(room.clear()))
        .isInstanceOf(CorruptRingException.class)
        .hasMessage("bytes written: 1032 (expected: 0..1024)");

    memory.putLong(WRITTEN, 16);
    memory.putInt(PacketRing.HEADER, 9);
    assertThatThrownBy(() -> new PacketRing(memory.duplicate()).read(room.clear()))
        .isInstanceOf(CorruptRingException.class)
        .hasMessage("length of a record: 9 (expected: 0..8)");
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
      memory.order(ByteOrder.nativeOrder()).putLong(WRITTEN, 8L * random.nextInt(200));
      PacketRing damaged = new PacketRing(memory.duplicate());
      try {
        int reads = 0;
        while (damaged.read(room.clear()) != PacketRing.EMPTY) {
          assertThat(++reads).as("records in a ring").isLessThanOrEqualTo(CAPACITY / 8);
        }
      } catch (CorruptRingException e) {
        refused++;
      }
    }
    assertThat(refused).isPositive();
  }
}
