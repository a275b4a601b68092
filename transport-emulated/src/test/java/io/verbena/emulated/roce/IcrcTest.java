// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IcrcTest {
  private final RocePacket frame = new RocePacket();
  private final Icrc icrc = new Icrc();

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 64, 1024, 4096})
  void findsEveryIdentification(int payload) {
    RandomPacket fields = new RandomPacket(PacketOpcode.RC_SEND_ONLY, new Random(payload), payload);
    int end = fields.write(frame).length() - Icrc.LENGTH;
    int step = payload > 100 ? 251 : 1;
    for (int expected = 0; expected <= 0xffff; expected += step) {
      frame.identification(expected);
      int crc = icrc.compute(frame.bytes(), end);
      frame.identification(0);

      assertThat(icrc.identification(frame.bytes(), end, crc)).isEqualTo(expected);
    }
  }

  @Test
  void findsNoneForADamagedPacket() {
    int end =
        new RandomPacket(PacketOpcode.RC_SEND_ONLY, new Random(1), 100).write(frame).length()
            - Icrc.LENGTH;
    frame.identification(0);
    int crc = icrc.compute(frame.bytes(), end);

    for (int bit = 0; bit < 32; bit++) {
      assertThat(icrc.identification(frame.bytes(), end, crc ^ 1 << bit))
          .isEqualTo(Icrc.NO_IDENTIFICATION);
    }
  }

  @Test
  void goesBackWhereACrcGoesForth() {
    for (int exponent : new int[] {0, 1, 7, 8, 32, 4096 * 8, Integer.MAX_VALUE}) {
      int power = CrcField.inversePowerOfX(exponent);
      int previous = CrcField.inversePowerOfX(exponent - 1 & Integer.MAX_VALUE);

      // 0x40000000 is x in this bit order.
      assertThat(CrcField.multiply(power, 0x4000_0000))
          .isEqualTo(exponent == 0 ? 0x4000_0000 : previous);
    }
  }
}
