// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CleanupTest {
  private final List<String> ended = new ArrayList<>();
  private final Cleanup cleanup = new Cleanup();

  @Test
  void endsTheLastFirstAndOnce() {
    cleanup.add(() -> ended.add("transport"));
    cleanup.add(() -> ended.add("server"));

    cleanup.close();
    cleanup.close();

    assertThat(ended).containsExactly("server", "transport");
  }

  @Test
  void goesOnAfterAFailureAndTellsAllOfThem() {
    cleanup.add(() -> ended.add("transport"));
    cleanup.add(() -> fail("second"));
    cleanup.add(() -> fail("first"));

    assertThatThrownBy(cleanup::close)
        .hasMessage("first")
        .satisfies(
            e -> assertThat(e.getSuppressed()).extracting("message").containsExactly("second"));
    assertThat(ended).containsExactly("transport");
  }

  private static void fail(String message) {
    throw new IllegalStateException(message);
  }
}
