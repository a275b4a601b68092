// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.ConnectRequest;
import io.verbena.RejectReason;
import io.verbena.verbs.ConnectionParameters;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ProgramPrivateDataTest {
  /** Length of a rejection's private data on a locked wire. */
  private static final int LEAST_REJECT_DATA = 132;

  @Test
  void readsWhatWasAppendedThoughItIsPaddedWithZeros() {
    ByteBuffer sent =
        ProgramPrivateData.append(
            ByteBuffer.wrap(new byte[] {9, 9}), ByteBuffer.wrap(new byte[] {1, 2}));
    ByteBuffer padded =
        ByteBuffer.allocate(ConnectionParameters.MAX_CONNECT_DATA).put(sent).clear();

    assertThat(ProgramPrivateData.read(padded, 2)).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2}));
  }

  @Test
  void readsNothingOfAPeerThatSendsNothing() {
    assertThat(ProgramPrivateData.read(ByteBuffer.allocate(2), 2))
        .isEqualTo(ByteBuffer.allocate(0));
    assertThat(ProgramPrivateData.read(ByteBuffer.allocate(9), 2))
        .isEqualTo(ByteBuffer.allocate(0));
  }

  @Test
  void refusesALengthBeyondTheData() {
    assertThat(ProgramPrivateData.read(ByteBuffer.wrap(new byte[] {0, 0, 2, 1}), 2)).isNull();
    assertThat(ProgramPrivateData.read(ByteBuffer.wrap(new byte[] {0, 0, -1, 1}), 2)).isNull();
  }

  @Test
  void refusesMoreThanTheLimit() {
    int most = ConnectRequest.MAX_PRIVATE_DATA;

    assertThat(ProgramPrivateData.refuse(ByteBuffer.allocate(most))).isNull();
    assertThat(ProgramPrivateData.refuse(ByteBuffer.allocate(most + 1)))
        .isEqualTo("private data: 25 bytes (expected: <= 24)");
  }

  @Test
  void readsTheReasonThatWasAppended() {
    RejectReason longest = new RejectReason(65_535, "\u00e4".repeat(RejectReason.MAX_TEXT / 2));
    RejectReason shortest = new RejectReason(RejectReason.HOOK_FAILED, "");

    for (RejectReason reason : new RejectReason[] {longest, shortest}) {
      ByteBuffer sent = ProgramPrivateData.append(ByteBuffer.allocate(8), reason);
      assertThat(sent.remaining()).isLessThanOrEqualTo(LEAST_REJECT_DATA);
      assertThat(ProgramPrivateData.readReason(sent, 8)).isEqualTo(reason);
    }
  }

  @Test
  void whatDoesNotPrintIsReplaced() {
    byte[] text = "a\nb\u202ec\u2028d".getBytes(StandardCharsets.UTF_8);
    ByteBuffer sent =
        ByteBuffer.allocate(64).putInt(7).put((byte) (text.length + 1)).put(text).put((byte) 0xff);

    assertThat(ProgramPrivateData.readReason(sent.clear(), 0))
        .isEqualTo(new RejectReason(7, "a?b?c?d?"));
  }

  @Test
  void readsAnyBytesAsAReasonOrNone() {
    Random random = new Random(1);
    int reasons = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[random.nextInt(LEAST_REJECT_DATA)];
      random.nextBytes(bytes);
      ByteBuffer data = ByteBuffer.wrap(bytes);
      if (bytes.length > 5 && random.nextBoolean()) {
        data.putInt(0, random.nextInt(70_000) - 5).put(4, (byte) random.nextInt(bytes.length));
      }
      reasons += ProgramPrivateData.readReason(data, 0) == null ? 0 : 1;
    }
    assertThat(reasons).isPositive();
  }
}
