// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.crypto.RecordCipher;
import io.verbena.emulated.crypto.SessionKeys;
import io.verbena.emulated.crypto.SharedSecret;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests a sealed channel on a socket that reads and writes any number of bytes. */
class SealedStreamTest {
  private static final int ALL = 400_000;
  private static final byte[] NOTHING = {};

  private final CipherWorkspace work = CipherWorkspace.ofRecords();
  private final Pipe pipe = new Pipe();
  private final SealedOutput output = new SealedOutput(pipe, session(true), work);
  private final SealedInput input = new SealedInput(pipe, session(false), work);

  private static RecordCipher session(boolean active) {
    SharedSecret key = SharedSecret.of(new byte[SharedSecret.LEAST]);
    return SessionKeys.of(key, active, NOTHING, NOTHING).records();
  }

  @RepeatedTest(20)
  void carriesAllBytesInPiecesOfAnySize(RepetitionInfo info) throws IOException {
    Random random = new Random(info.getCurrentRepetition());
    byte[] all = new byte[ALL];
    random.nextBytes(all);
    ByteBuffer toSend = ByteBuffer.wrap(all);
    ByteBuffer came = ByteBuffer.allocate(ALL);
    int most = 1 << (1 + random.nextInt(18));
    while (came.hasRemaining()) {
      pipe.room = random.nextInt(most);
      int before = toSend.position();
      ByteBuffer[] pieces = pieces(toSend, random, most);
      long taken = output.write(pieces, 0, pieces.length);
      long moved = Arrays.stream(pieces).mapToLong(each -> each.position()).sum();
      assertThat(moved - start(pieces, before)).isEqualTo(taken);
      toSend.position(before + (int) taken);
      ByteBuffer[] places = pieces(came, random, most);
      int at = came.position();
      long read = input.read(places, 0, places.length);
      assertThat(read).isNotNegative();
      came.position(at + (int) read);
    }
    assertThat(Arrays.mismatch(came.array(), all)).as("first byte that differs").isEqualTo(-1);
    assertThat(input.hasMore()).isFalse();
    assertThat(pipe.bytes.position()).as("bytes left in the socket").isZero();
  }

  /** Returns the remaining bytes of a buffer in random slices. */
  private static ByteBuffer[] pieces(ByteBuffer of, Random random, int most) {
    ByteBuffer[] pieces = new ByteBuffer[1 + random.nextInt(4)];
    int at = of.position();
    for (int i = 0; i < pieces.length; i++) {
      int length = Math.min(random.nextInt(most), of.capacity() - at);
      pieces[i] = of.duplicate().limit(at + length).position(at);
      at += length;
    }
    return pieces;
  }

  private static long start(ByteBuffer[] pieces, int first) {
    long sum = 0;
    int at = first;
    for (ByteBuffer each : pieces) {
      sum += at;
      at = each.limit();
    }
    return sum;
  }

  @Test
  void leavesTheWriterSomethingToWriteUntilTheLastByteIsOut() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(100);
    pipe.room = 50;

    assertThat(output.write(bytes)).isEqualTo(99);
    assertThat(output.write(bytes)).as("no room").isZero();
    pipe.room = 69;
    assertThat(output.write(bytes)).as("room for all but one byte").isZero();
    pipe.room = 1;
    assertThat(output.write(bytes)).isEqualTo(1);
    assertThat(bytes.hasRemaining()).isFalse();
    assertThat(pipe.bytes.position()).isEqualTo(100 + RecordCipher.OVERHEAD);
  }

  @Test
  void saysThatItHasMoreThanWasTaken() throws IOException {
    int unused = output.write(ByteBuffer.allocate(100));
    unused = output.write(ByteBuffer.allocate(100));

    assertThat(input.read(ByteBuffer.allocate(60))).isEqualTo(60);
    assertThat(input.hasMore()).isTrue();
    assertThat(input.read(ByteBuffer.allocate(40))).isEqualTo(40);
    assertThat(input.hasMore()).as("the second record").isTrue();
    assertThat(input.read(ByteBuffer.allocate(100))).isEqualTo(100);
    assertThat(input.hasMore()).isFalse();
    assertThat(input.read(ByteBuffer.allocate(1))).isZero();
    pipe.ended = true;
    assertThat(input.read(ByteBuffer.allocate(1))).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 4, 50, 119})
  void takesNothingOfARecordThatWasChanged(int at) throws IOException {
    int unused = output.write(ByteBuffer.allocate(100));
    pipe.bytes.put(at, (byte) (pipe.bytes.get(at) ^ 1));
    if (at == 3) {
      // The changed length is one byte longer, so the record needs one more byte.
      pipe.bytes.put((byte) 0);
    }
    ByteBuffer into = ByteBuffer.allocate(200);

    assertThatThrownBy(() -> input.read(into)).isInstanceOf(IOException.class);
    assertThat(into.position()).isZero();
  }

  /** A socket in memory. */
  private static final class Pipe implements GatheringByteChannel, ScatteringByteChannel {
    final ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
    int room = Integer.MAX_VALUE;
    boolean ended;

    @Override
    public int write(ByteBuffer from) {
      int length = Math.min(room, from.remaining());
      room -= length;
      bytes.put(from.slice(from.position(), length));
      from.position(from.position() + length);
      return length;
    }

    @Override
    public int read(ByteBuffer into) {
      int length = Math.min(bytes.position(), into.remaining());
      if (length == 0) {
        return ended ? -1 : 0;
      }
      bytes.flip();
      into.put(bytes.slice(0, length));
      bytes.position(length);
      bytes.compact();
      return length;
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int count) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] from) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int count) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] into) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }
}
