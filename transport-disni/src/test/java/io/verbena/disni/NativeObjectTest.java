// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NativeObjectTest {
  private static final long POINTER = 4096;

  private final List<Long> destroyed = new ArrayList<>();

  private int destroy(long pointer) {
    destroyed.add(pointer);
    return -Errno.EBUSY;
  }

  private static Object notMade(long pointer) {
    throw new OutOfMemoryError("object of " + pointer);
  }

  @Test
  void isKeptByItsOwner() {
    String owner =
        NativeObject.own("destroy", POINTER, pointer -> "owner of " + pointer, this::destroy);

    assertThat(owner).isEqualTo("owner of 4096");

    assertThat(destroyed).isEmpty();
  }

  @Test
  void isDestroyedWithoutAnOwner() {
    assertThatExceptionOfType(OutOfMemoryError.class)
        .isThrownBy(
            () -> NativeObject.own("destroy", POINTER, NativeObjectTest::notMade, this::destroy))
        .satisfies(
            failure ->
                assertThat(failure.getSuppressed())
                    .singleElement()
                    .extracting(Throwable::getMessage)
                    .asString()
                    .contains("destroy: errno 16"));

    assertThat(destroyed).containsExactly(POINTER);
  }
}
