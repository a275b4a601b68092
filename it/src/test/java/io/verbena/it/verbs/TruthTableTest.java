// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.tck.ObservedResults;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Compares the results of the TCK on both HCAs, after both runs: the emulated HCA in its own
 * module, rxe in the guest.
 */
@Tag(TruthTableTest.TAG)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TruthTableTest {
  static final String TAG = "truth-table";

  private static final Path PAGE = Path.of("../docs/generated/emulated-vs-rxe.md");

  private static final Path OUTPUT =
      Path.of(System.getProperty("verbena.test.results", "target/jdk"));

  private static final ObservedResults RXE =
      new ObservedResults(OUTPUT.resolve("guest/nodes-1/answers-rxe.tsv"));

  private static final ObservedResults EMULATED =
      new ObservedResults(
          Path.of("../transport-emulated/target")
              .resolve(OUTPUT.getFileName())
              .resolve("answers-emulated.tsv"));

  private TruthTable table;

  @BeforeAll
  void readBoth() {
    assumeTrue(
        RXE.exists() && EMULATED.exists(),
        "the TCK did not run on both HCAs: there is nothing to compare");
    table = new TruthTable(EMULATED.read(), RXE.read());
  }

  @Test
  void explainsEachDifference() {
    assertThat(table.unexplained()).isEmpty();
  }

  @Test
  void explainsNothingThatIsNoDifference() {
    assertThat(table.unseen()).isEmpty();
  }

  @Test
  void isThePageInTheDocuments() throws IOException {
    Path written = OUTPUT.resolve("emulated-vs-rxe.md");
    Files.writeString(written, table.markdown());

    assertThat(PAGE)
        .as("the page; if the change is meant, copy %s there", written)
        .content()
        .isEqualTo(table.markdown());
  }
}
