// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.crypto.RecordCipher;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.iwarp.frame.MpaFault;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.emulated.iwarp.frame.MpaFrame.Depths;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Tests the handshake of a locked connection frame by frame. */
class MpaKeyHandshakeTest {
  private static final SharedSecret KEY = key(1);
  private static final SharedSecret OTHER = key(2);
  private static final int MANY = 300;
  private static final ByteBuffer DATA = ByteBuffer.wrap(new byte[] {7, 8, 9});

  private final Secrets secrets = new Secrets(new SplittableRandom(1));
  private final MpaKeyHandshake active =
      MpaKeyHandshake.active(KEY, open(MpaFrame.Kind.REQUEST), secrets);
  private final MpaKeyHandshake passive = MpaKeyHandshake.passive(KEY, sent(active.request()));

  private static SharedSecret key(int first) {
    byte[] secret = new byte[SharedSecret.LEAST];
    secret[0] = (byte) first;
    return SharedSecret.of(secret);
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

  /** Returns the frame as its receiver parses it. */
  private static MpaFrame sent(MpaFrame frame) {
    return MpaFrame.parse(frame.kind(), frame.bytes());
  }

  private MpaFrame reply() {
    return sent(passive.accept(open(MpaFrame.Kind.REPLY), secrets));
  }

  @Test
  void bothEndsHaveTheLockOfTheConnection() {
    MpaFrame reply = reply();

    assertThat(MpaKeyHandshake.admits(KEY, sent(active.request()))).isTrue();
    assertThat(MpaKeyHandshake.programs(active.request())).isEqualTo(DATA);
    assertThat(active.admits(reply)).isTrue();
    assertThat(MpaKeyHandshake.programs(reply)).isEqualTo(DATA);
    assertThat(opens(active.records(), passive.records())).isTrue();
    assertThat(opens(passive.records(), active.records())).isTrue();
  }

  private static boolean opens(RecordCipher by, RecordCipher at) {
    CipherWorkspace work = CipherWorkspace.ofRecords();
    ByteBuffer record = ByteBuffer.allocate(1 + RecordCipher.OVERHEAD);
    by.seal(work, 1, record);
    return at.open(work, record, 0, 1);
  }

  @Test
  void noOtherConnectionHasItsKeys() {
    MpaFrame unused = reply();
    MpaKeyHandshake same = MpaKeyHandshake.passive(KEY, sent(active.request()));

    assertThat(active.admits(sent(same.accept(open(MpaFrame.Kind.REPLY), secrets)))).isTrue();
    assertThat(opens(active.records(), passive.records())).isFalse();
  }

  @Test
  void refusesWhoHasAnotherKeyOrNone() {
    MpaFrame request = sent(active.request());

    assertThat(MpaKeyHandshake.admits(OTHER, request)).isFalse();
    assertThat(MpaKeyHandshake.admits(null, request)).isFalse();
    assertThat(MpaKeyHandshake.admits(KEY, open(MpaFrame.Kind.REQUEST))).isFalse();
    assertThat(MpaKeyHandshake.admits(null, open(MpaFrame.Kind.REQUEST))).isTrue();
    assertThat(active.admits(open(MpaFrame.Kind.REPLY))).isFalse();
    MpaFrame others =
        MpaKeyHandshake.passive(OTHER, request).accept(open(MpaFrame.Kind.REPLY), secrets);
    assertThat(active.admits(sent(others))).isFalse();
  }

  @Test
  void aReplyToAnotherRequestIsNone() {
    MpaKeyHandshake another = MpaKeyHandshake.active(KEY, open(MpaFrame.Kind.REQUEST), secrets);

    assertThat(another.admits(reply())).isFalse();
  }

  @Test
  void seesEveryBitOfTheFramesThatMeansSomething() {
    assertThat(flips(active.request(), each -> MpaKeyHandshake.admits(KEY, each)))
        .isGreaterThan(MANY);
    assertThat(flips(reply(), active::admits)).isGreaterThan(MANY);
    MpaFrame refusal = passive.refuse(active.request().refusal(DATA.asReadOnlyBuffer()), secrets);
    assertThat(active.isRefusal(sent(refusal))).isTrue();
    assertThat(MpaKeyHandshake.programs(sent(refusal))).isEqualTo(DATA);
    assertThat(flips(refusal, active::isRefusal)).isGreaterThan(MANY);
  }

  /** Flips each bit; returns the number of flips after which the frame reads the same. */
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
    MpaFrame refusal = sent(MpaKeyHandshake.refusalOf(sent(active.request())));

    assertThat(refusal.rejects() && refusal.locked()).isTrue();
    assertThat(active.isRefusal(refusal)).isFalse();
  }
}
