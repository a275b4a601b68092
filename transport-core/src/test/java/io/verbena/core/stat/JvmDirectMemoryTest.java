// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.stat;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JvmDirectMemoryTest {
  @ParameterizedTest
  @CsvSource({"1048576, 1048576", "64m, 67108864", "2G, 2147483648", "16K, 16384", "'', -1"})
  void readsTheJvmsOption(String size, long bytes) {
    assertThat(JvmDirectMemory.bytes(size, -1)).isEqualTo(bytes);
  }

  @Test
  void knowsALimitAndWhatIsTaken() {
    assertThat(JvmDirectMemory.most()).isPositive();
    assertThat(JvmDirectMemory.inUse().getAsLong()).isNotNegative();
  }
}
