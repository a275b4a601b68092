// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import org.junit.jupiter.api.Test;

class OpenCountTest {

  private enum Kind {
    MEMORY_REGION
  }

  private final OpenCount<Kind> open = new OpenCount<>(Kind.class);

  private static void fail() {
    throw new IllegalStateException("refused");
  }

  private static Object notMade() {
    fail();
    return new Object();
  }

  @Test
  void doesNotCountWhatWasNotMade() {
    assertThatIllegalStateException()
        .isThrownBy(() -> open.create(Kind.MEMORY_REGION, 1, OpenCountTest::notMade));

    assertThat(open.close("domain")).isTrue();
  }

  @Test
  void makesNothingBeyondTheLimit() {
    open.create(Kind.MEMORY_REGION, 1, Object::new);

    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> open.create(Kind.MEMORY_REGION, 1, OpenCountTest::notMade))
        .withMessageContaining("memory regions: 2 (expected: <= 1)")
        .extracting(VerbsException::error)
        .isEqualTo(VerbsError.NO_MEMORY);
  }

  @Test
  void staysOpenIfItCannotBeReleased() {
    assertThatIllegalStateException()
        .isThrownBy(() -> open.close("domain", OpenCountTest::fail))
        .withMessage("refused");
    assertThat(open.isClosed()).isFalse();

    assertThat(open.close("domain", () -> {})).isTrue();
    assertThat(open.close("domain", OpenCountTest::fail)).isFalse();
  }

  @Test
  void releasesNothingWhileSomethingIsOpen() {
    open.create(Kind.MEMORY_REGION, 1, Object::new);

    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> open.close("domain", OpenCountTest::fail))
        .withMessageContaining("close domain: still open: 1 memory region");
  }
}
