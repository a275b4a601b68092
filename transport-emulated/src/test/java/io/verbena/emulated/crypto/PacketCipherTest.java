// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.crypto;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.crypto.PacketCipher.Result;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Each end opens every sealed packet of the other end once, also across changes of the keys. */
class PacketCipherTest {
  private static final int EPOCH_BITS = 3;
  private static final int EPOCH = 1 << EPOCH_BITS;
  private static final int LENGTH = 40;

  private final byte[] here = new byte[32];
  private final byte[] there = {1, 2, 3};
  private final PacketCipher sender = new PacketCipher(here, there, EPOCH_BITS);
  private final PacketCipher receiver = new PacketCipher(there, here, EPOCH_BITS);
  private final CipherWorkspace work = new CipherWorkspace(4, LENGTH);

  private ByteBuffer seal(PacketCipher by) {
    ByteBuffer packet = ByteBuffer.allocate(LENGTH + PacketCipher.OVERHEAD);
    packet.put(
        0, "the same text in every packet".getBytes(java.nio.charset.StandardCharsets.UTF_8));
    by.seal(work, packet, 0, LENGTH);
    return packet;
  }

  private Result open(ByteBuffer packet) {
    ByteBuffer copy = ByteBuffer.allocate(packet.capacity()).put(0, packet, 0, packet.capacity());
    Result result = receiver.open(work, copy, 0, LENGTH);
    boolean readable =
        new String(copy.array(), java.nio.charset.StandardCharsets.UTF_8).contains("every");
    assertThat(readable).isEqualTo(result == Result.OPEN);
    return result;
  }

  @Test
  void opensWhatThePeerSealedAndOnlyOnce() {
    ByteBuffer packet = seal(sender);

    assertThat(open(packet)).isEqualTo(Result.OPEN);
    assertThat(open(packet)).isEqualTo(Result.REPLAYED);
  }

  @Test
  void doesNotOpenWhatItSealedItself() {
    assertThat(open(seal(receiver))).isEqualTo(Result.FORGED);
  }

  @Test
  void sealsTheSamePacketDifferentlyEachTime() {
    Set<ByteBuffer> sealed = new HashSet<>();
    for (int i = 0; i < 4 * EPOCH; i++) {
      sealed.add(seal(sender).limit(LENGTH));
    }

    assertThat(sealed).hasSize(4 * EPOCH);
  }

  @Test
  void keysChangeWithEachEpochAndPacketsOfTheOneBeforeAreStillOpened() {
    List<ByteBuffer> packets = new ArrayList<>();
    for (int i = 0; i < 5 * EPOCH; i++) {
      packets.add(seal(sender));
    }
    for (int epoch = 0; epoch < 5; epoch++) {
      int first = epoch * EPOCH;
      for (int i = 1; i < EPOCH; i++) {
        assertThat(open(packets.get(first + i))).as("packet %d", first + i).isEqualTo(Result.OPEN);
      }
      if (epoch > 0) {
        assertThat(open(packets.get(first - EPOCH))).as("late").isEqualTo(Result.OPEN);
      }
    }

    assertThat(open(packets.get(2 * EPOCH))).isEqualTo(Result.REPLAYED);
  }

  @Test
  void aForgedNumberOfTheNextEpochDoesNotChangeTheKey() {
    ByteBuffer forged = seal(sender);
    forged.putLong(LENGTH + 16, EPOCH + 1);
    assertThat(open(forged)).isEqualTo(Result.FORGED);
    forged.putLong(LENGTH + 16, Long.MAX_VALUE);
    assertThat(open(forged)).isEqualTo(Result.FORGED);
    forged.putLong(LENGTH + 16, -1);
    assertThat(open(forged)).isEqualTo(Result.REPLAYED);

    assertThat(open(seal(sender))).isEqualTo(Result.OPEN);
  }

  @Test
  void sealsTheHeaderThatGoesUnencrypted() {
    ByteBuffer packet = seal(sender);
    work.header()[0] = 1;
    assertThat(open(packet)).isEqualTo(Result.FORGED);
    work.header()[0] = 0;
    assertThat(open(packet)).isEqualTo(Result.OPEN);
  }
}
