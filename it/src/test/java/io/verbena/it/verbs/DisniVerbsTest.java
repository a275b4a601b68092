// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.tck.ObservedResults;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Runs the TCK with DiSNI's provider on the kernel's RDMA stack. */
@Tag("essential")
@InSoftRoceGuest(nodes = 1)
class DisniVerbsTest extends KernelVerbsTck {
  private static final ObservedResults ANSWERS =
      new ObservedResults(
          Path.of(System.getenv().getOrDefault("VERBENA_RESULTS", "target"), "answers-rxe.tsv"));

  DisniVerbsTest() {
    super("disni");
  }

  @BeforeAll
  static void forgetEarlierAnswers() {
    ANSWERS.clear();
  }

  @Override
  protected void observed(String test, String answer) {
    ANSWERS.add(test, answer);
  }
}
