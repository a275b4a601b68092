// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.iwarp.frame.MpaFault;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.emulated.iwarp.frame.MpaFrame.Depths;
import io.verbena.emulated.lock.LockKey;
import io.verbena.emulated.lock.LockWorkspace;
import io.verbena.emulated.lock.RecordLock;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** The handshake of a locked connection, frame by frame. */
class MpaLockTest {
  private static final LockKey KEY = key(1);
  private static final LockKey OTHER = key(2);
  private static final int MANY = 300;
  private static final ByteBuffer DATA = ByteBuffer.wrap(new byte[] {7, 8, 9});

  private final Secrets secrets = new Secrets(new SplittableRandom(1));
  private final MpaLock active = MpaLock.active(KEY, open(MpaFrame.Kind.REQUEST), secrets);
  private final MpaLock passive = MpaLock.passive(KEY, sent(active.request()));

  private static LockKey key(int first) {
    byte[] secret = new byte[LockKey.LEAST];
    secret[0] = (byte) first;
    return LockKey.of(secret);
  }

  private static MpaFrame open(MpaFrame.Kind kind) {
    return new MpaFrame(
        kind,
        MpaFrame.ENHANCED_REVISION,
        /* markers= */ false,
        /* crc= */ false,
        /* rejects= */ false,
        /* extensions= */ true,
        Depths.of(4, 4).readyByWrite(),
        DATA.asReadOnlyBuffer());
  }

  /** Returns a frame as its receiver reads it. */
  private static MpaFrame sent(MpaFrame frame) {
    return MpaFrame.parse(frame.kind(), frame.bytes());
  }

  private MpaFrame reply() {
    return sent(passive.accept(open(MpaFrame.Kind.REPLY), secrets));
  }

  @Test
  void bothEndsHaveTheLockOfTheConnection() {
    MpaFrame reply = reply();

    assertThat(MpaLock.admits(KEY, sent(active.request()))).isTrue();
    assertThat(MpaLock.programs(active.request())).isEqualTo(DATA);
    assertThat(active.admits(reply)).isTrue();
    assertThat(MpaLock.programs(reply)).isEqualTo(DATA);
    assertThat(opens(active.records(), passive.records())).isTrue();
    assertThat(opens(passive.records(), active.records())).isTrue();
  }

  private static boolean opens(RecordLock by, RecordLock at) {
    LockWorkspace work = LockWorkspace.ofRecords();
    ByteBuffer record = ByteBuffer.allocate(1 + RecordLock.OVERHEAD);
    by.seal(work, 1, record);
    return at.open(work, record, 0, 1);
  }

  @Test
  void noOtherConnectionHasItsKeys() {
    MpaFrame unused = reply();
    MpaLock same = MpaLock.passive(KEY, sent(active.request()));

    assertThat(active.admits(sent(same.accept(open(MpaFrame.Kind.REPLY), secrets)))).isTrue();
    assertThat(opens(active.records(), passive.records())).isFalse();
  }

  @Test
  void refusesWhoHasAnotherKeyOrNone() {
    MpaFrame request = sent(active.request());

    assertThat(MpaLock.admits(OTHER, request)).isFalse();
    assertThat(MpaLock.admits(null, request)).isFalse();
    assertThat(MpaLock.admits(KEY, open(MpaFrame.Kind.REQUEST))).isFalse();
    assertThat(MpaLock.admits(null, open(MpaFrame.Kind.REQUEST))).isTrue();
    assertThat(active.admits(open(MpaFrame.Kind.REPLY))).isFalse();
    MpaFrame others = MpaLock.passive(OTHER, request).accept(open(MpaFrame.Kind.REPLY), secrets);
    assertThat(active.admits(sent(others))).isFalse();
  }

  @Test
  void aReplyToAnotherRequestIsNone() {
    MpaLock another = MpaLock.active(KEY, open(MpaFrame.Kind.REQUEST), secrets);

    assertThat(another.admits(reply())).isFalse();
  }

  @Test
  void seesEveryBitOfTheFramesThatMeansSomething() {
    assertThat(flips(active.request(), each -> MpaLock.admits(KEY, each))).isGreaterThan(MANY);
    assertThat(flips(reply(), active::admits)).isGreaterThan(MANY);
    MpaFrame refusal = passive.refuse(active.request().refusal(DATA.asReadOnlyBuffer()), secrets);
    assertThat(active.isRefusal(sent(refusal))).isTrue();
    assertThat(MpaLock.programs(sent(refusal))).isEqualTo(DATA);
    assertThat(flips(refusal, active::isRefusal)).isGreaterThan(MANY);
  }

  /** Flips each bit; returns how many of them made another frame of it. */
  private static int flips(MpaFrame frame, Predicate<MpaFrame> admits) {
    int frames = 0;
    ByteBuffer bytes = frame.bytes();
    for (int bit = 0; bit < bytes.capacity() * Byte.SIZE; bit++) {
      int at = bit / Byte.SIZE;
      ByteBuffer copy = ByteBuffer.allocate(bytes.capacity()).put(bytes.duplicate()).clear();
      copy.put(at, (byte) (copy.get(at) ^ 1 << bit % Byte.SIZE));
      if (MpaFrame.check(frame.kind(), copy) == MpaFault.NONE) {
        MpaFrame read = MpaFrame.parse(frame.kind(), copy);
        boolean same = read.equals(frame);
        assertThat(admits.test(read)).as("bit %d", bit).isEqualTo(same);
        frames += same ? 0 : 1;
      }
    }
    return frames;
  }

  @Test
  void aRefusalOfAStrangerHasNoDataOfTheProgram() {
    MpaFrame refusal = sent(MpaLock.refusalOf(sent(active.request())));

    assertThat(refusal.rejects() && refusal.locked()).isTrue();
    assertThat(active.isRefusal(refusal)).isFalse();
  }
}
