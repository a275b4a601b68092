// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.crypto;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Records of a stream open in their order and unchanged, or not at all. */
class RecordCipherTest {
  private static final int EPOCH_BITS = 3;
  private static final int LENGTH = 40;

  private final byte[] here = new byte[32];
  private final byte[] there = {1, 2, 3};
  private final RecordCipher sender = new RecordCipher(here, there, EPOCH_BITS);
  private RecordCipher receiver = new RecordCipher(there, here, EPOCH_BITS);
  private final CipherWorkspace work = CipherWorkspace.ofRecords();
  private final Random random = new Random(1);

  private ByteBuffer seal(RecordCipher by, byte[] bytes) {
    ByteBuffer record = ByteBuffer.allocate(bytes.length + RecordCipher.OVERHEAD);
    System.arraycopy(bytes, 0, work.in(), 0, bytes.length);
    by.seal(work, bytes.length, record);
    assertThat(record.hasRemaining()).isFalse();
    return record.flip();
  }

  private ByteBuffer seal() {
    return seal(sender, new byte[LENGTH]);
  }

  private boolean opens(ByteBuffer record) {
    return receiver.open(work, record, 0, RecordCipher.length(record, 0));
  }

  @Test
  void opensWhatThePeerSealedUnderKeysThatChange() {
    for (int i = 0; i < 5 << EPOCH_BITS; i++) {
      byte[] bytes = new byte[i == 0 ? RecordCipher.MOST : 1 + random.nextInt(1000)];
      random.nextBytes(bytes);
      ByteBuffer record = seal(sender, bytes);

      assertThat(RecordCipher.length(record, 0)).isEqualTo(bytes.length);
      assertThat(opens(record)).as("record %d", i).isTrue();
      assertThat(ByteBuffer.wrap(work.out(), 0, bytes.length)).isEqualTo(ByteBuffer.wrap(bytes));
    }
  }

  @Test
  void opensNeitherARepeatedRecordNorOneBehindAGap() {
    ByteBuffer first = seal();
    ByteBuffer second = seal();
    ByteBuffer third = seal();

    assertThat(opens(first)).isTrue();
    RecordCipher fresh = receiver;
    assertThat(opens(first)).isFalse();
    for (ByteBuffer later : List.of(third, second)) {
      assertThat(fresh.open(work, later, 0, LENGTH)).as("after one that does not open").isFalse();
    }
    receiver = new RecordCipher(there, here, EPOCH_BITS);
    assertThat(opens(first)).isTrue();
    assertThat(opens(third)).isFalse();
  }

  @Test
  void seesEveryBit() {
    ByteBuffer record = seal();
    for (int bit = 0; bit < record.capacity() * Byte.SIZE; bit++) {
      ByteBuffer copy = ByteBuffer.allocate(record.capacity()).put(record.duplicate()).flip();
      int at = bit / Byte.SIZE;
      copy.put(at, (byte) (copy.get(at) ^ 1 << bit % Byte.SIZE));
      receiver = new RecordCipher(there, here, EPOCH_BITS);
      int length = RecordCipher.length(copy, 0);
      boolean whole = length > 0 && length + RecordCipher.OVERHEAD <= copy.capacity();

      assertThat(whole && opens(copy)).as("bit %d", bit).isFalse();
    }
  }

  @Test
  void doesNotOpenWhatItSealedItself() {
    assertThat(opens(seal(receiver, new byte[LENGTH]))).isFalse();
  }

  @Test
  void hasNoRecordOfAnotherLength() {
    for (int length : new int[] {Integer.MIN_VALUE, -1, 0, RecordCipher.MOST + 1}) {
      ByteBuffer header = ByteBuffer.allocate(RecordCipher.HEADER).putInt(0, length);
      assertThat(RecordCipher.length(header, 0)).as("%d", length).isEqualTo(RecordCipher.NONE);
    }
  }

  @Test
  void sealsTheSameBytesDifferentlyEachTime() {
    List<ByteBuffer> sealed = new ArrayList<>();
    for (int i = 0; i < 4 << EPOCH_BITS; i++) {
      sealed.add(seal());
    }
    assertThat(sealed).doesNotHaveDuplicates();
  }
}
