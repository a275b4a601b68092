// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.ContainerLaunchException;

/** Tests the contract of {@link VerbenaContainer}. */
@InContainers
@Tag("exhaustive")
@Tag("once")
class VerbenaContainerTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofMillis(200);

  /** Prints a line, and ends with an exit code, or waits if the code is negative. */
  public static final class Speaker {
    private Speaker() {}

    /** Runs the program: the line to print, and the exit code. */
    public static void main(String[] args) throws InterruptedException {
      System.out.println(args[0]);
      int exitCode = Integer.parseInt(args[1]);
      if (exitCode < 0) {
        new CountDownLatch(1).await();
      }
      System.exit(exitCode);
    }
  }

  private static VerbenaContainer speaker(String... arguments) {
    return new VerbenaContainer(Speaker.class).withArguments(arguments);
  }

  @Test
  void aProgramThatEndsBeforeItIsReadyFailsTheStartAtOnceWithItsOutput() {
    try (VerbenaContainer speaker =
        speaker("cannot serve", "3")
            .withReadiness("serving")
            .withStartupTimeout(Duration.ofHours(1))) {
      assertThatThrownBy(speaker::start)
          .isInstanceOf(ContainerLaunchException.class)
          .hasStackTraceContaining("cannot serve");
    }
  }

  @Test
  void aProgramThatIsNotReadyInTimeFailsTheStart() {
    try (VerbenaContainer speaker =
        speaker("thinking", "-1").withReadiness("serving").withStartupTimeout(SHORT)) {
      assertThatThrownBy(speaker::start)
          .isInstanceOf(ContainerLaunchException.class)
          .hasStackTraceContaining("no \"serving\" of " + Speaker.class.getName());
    }
  }

  @Test
  void tellsHowAProgramEnded() {
    try (VerbenaContainer speaker = speaker("done", "3")) {
      speaker.start();
      assertThat(speaker.awaitExit(LIMIT)).isEqualTo(3);
      assertThat(speaker.getLogs()).isEqualTo("done\n");
    }
  }

  @Test
  void aWaitForTheEndHasALimit() {
    try (VerbenaContainer speaker = speaker("here", "-1").withReadiness("here")) {
      speaker.start();
      assertThatIllegalStateException()
          .isThrownBy(() -> speaker.awaitExit(SHORT))
          .withMessageContainingAll("does not end within", "here");
    }
  }

  @Test
  void aNetworkFaultThatIsNotAllowedSaysWhy() {
    try (VerbenaContainer speaker = speaker("here", "-1").withReadiness("here")) {
      speaker.start();
      assertThatIllegalStateException()
          .isThrownBy(() -> speaker.lose(1))
          .withMessageContaining("not permitted");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> speaker.lose(101))
          .withMessage("percent: 101.0 (expected: 0 to 100)");
    }
  }
}
