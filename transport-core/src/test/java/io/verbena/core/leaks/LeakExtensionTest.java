// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.leaks;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import org.junit.jupiter.api.Test;

class LeakExtensionTest {

  @Test
  void findsABufferThatWasLetGo() {
    letGo(PooledByteBufAllocator.DEFAULT.directBuffer(64));

    assertThat(RecordingLeakDetector.takeLeaks())
        .singleElement()
        .asString()
        .contains("ByteBuf was not released", "Created at:", "findsABufferThatWasLetGo");
  }

  @Test
  void findsNothingWhereEachBufferWasReleased() {
    PooledByteBufAllocator.DEFAULT.directBuffer(64).release();

    assertThat(RecordingLeakDetector.takeLeaks()).isEmpty();
  }

  /** Ends the caller's last use of a buffer, so that the buffer is unreachable afterwards. */
  private static void letGo(ByteBuf buffer) {
    assertThat(buffer.refCnt()).isOne();
  }
}
