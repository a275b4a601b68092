// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.tck.ObservedResults;
import io.verbena.tck.VerbsTck;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;

/**
 * The verbs TCK on the emulated HCA. Writes the observed answers to a file, to be compared with
 * those of other devices.
 */
class EmulatedVerbsTest extends VerbsTck {
  private static final ObservedResults ANSWERS =
      new ObservedResults(
          Path.of(System.getProperty("verbena.test.results", "target"), "answers-emulated.tsv"));

  @BeforeAll
  static void forgetEarlierAnswers() {
    ANSWERS.clear();
  }

  // snippet: address
  @Override
  protected URI address(String name) {
    return URI.create("emulated://" + name);
  }

  // end

  @Override
  protected void observed(String test, String answer) {
    ANSWERS.add(test, answer);
  }
}
