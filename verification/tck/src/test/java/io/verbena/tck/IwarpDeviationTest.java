// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opentest4j.MultipleFailuresError;
import org.opentest4j.TestAbortedException;

/** Tests that a known deviation does not cover failures that no device may have. */
class IwarpDeviationTest {
  /** Excludes the deviations by which a later request completes first. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.MATCH_NONE, names = "FIRST_DONE_.*")
  void isNoCompletionOutOfOrder(IwarpDeviation deviation) {
    Throwable outOfOrder =
        catchThrowable(
            () ->
                assertThat(2L)
                    .as(
                        "id of WorkCompletion[2 WR_FLUSH_ERR] on the client's send completion queue")
                    .isEqualTo(1));

    assertThat(deviation.sometimes().isKnown(outOfOrder)).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void isNoLostMessage(IwarpDeviation deviation) {
    Throwable lost =
        catchThrowable(
            () ->
                new Parallel()
                    .thread(
                        () -> {
                          throw new AssertionError(
                              "no completion on the client's receive completion queue within PT10S");
                        })
                    .run(Duration.ofMinutes(1)));

    assertThat(lost).hasMessageStartingWith("a thread failed: ");
    assertThat(deviation.sometimes().isKnown(lost)).isFalse();
  }

  @Test
  void hidesNoOtherOfSeveralFailures() {
    Deviation known = IwarpDeviation.STATES_OF_A_CONNECTION.sometimes();
    var first = new TestAbortedException("the device has no ADDRESS_VECTORS");

    assertThat(known.isKnown(new MultipleFailuresError("", List.of(first, first)))).isTrue();
    assertThat(
            known.isKnown(
                new MultipleFailuresError(
                    "", List.of(first, new AssertionError("state after RESET to INIT")))))
        .isFalse();
  }
}
