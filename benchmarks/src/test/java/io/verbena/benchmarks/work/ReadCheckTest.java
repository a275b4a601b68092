// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

final class ReadCheckTest {
  private static final ReadLayout LAYOUT = new ReadLayout(256, 5);

  private final ReadCheck check = new ReadCheck(LAYOUT);

  @Test
  void namesTheSlotsInACircle() {
    int[] slots = new int[6];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = check.nextSlot();
    }
    assertThat(slots).containsExactly(0, 1, 2, 3, 4, 0);
  }

  @Test
  void acceptsEachSlotsContents() {
    assertThatNoException()
        .isThrownBy(
            () -> {
              for (int i = 0; i < 3000; i++) {
                int slot = check.nextSlot();
                check.accept(slot, contents(slot));
              }
            });
  }

  @Test
  void rejectsAReadThatDidNotHappen() {
    ByteBufferView local = contents(check.nextSlot());
    check.accept(0, local);
    assertThatExceptionOfType(DataCheckFailed.class)
        .isThrownBy(() -> check.accept(check.nextSlot(), local));
  }

  @Test
  void rejectsAReadThatStoppedShort() {
    ByteBufferView local = contents(0);
    local.putLong(256 - 8, 0);
    assertThatExceptionOfType(DataCheckFailed.class).isThrownBy(() -> check.accept(0, local));
  }

  private static ByteBufferView contents(int slot) {
    ByteBufferView view = new ByteBufferView(ByteBuffer.allocate(LAYOUT.size()), 0);
    LAYOUT.fill(slot, view);
    return view;
  }
}
