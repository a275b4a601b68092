// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.stat;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class JvmDirectMemoryTest {
  @Test
  void knowsWhatIsTaken() {
    ByteBuffer taken = ByteBuffer.allocateDirect(1 << 20);

    assertThat(JvmDirectMemory.inUse()).isGreaterThanOrEqualTo(taken.capacity());
  }
}
