// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

final class BenchTest {
  @TempDir Path folder;
  private final StringWriter out = new StringWriter();

  @Test
  void drawsWhatARunHasWritten() throws IOException {
    BenchCase<?> benchCase =
        Catalog.cases().stream()
            .filter(each -> each.id().equals("ping-busy/verbs"))
            .findFirst()
            .orElseThrow();
    Figures figures =
        Figures.decode(
            """
            figures.values=250,260,240
            figures.p99=400
            figures.allocated=0
            figures.before=100
            figures.after=100
            figures.others=0
            """);
    Path results = folder.resolve("bench.csv");
    Files.writeString(
        results, Csv.of("two CPUs", List.of(new CaseResult(benchCase, figures, null))));

    int exitCode =
        run("--plot", results.toString(), "--charts", folder.resolve("charts").toString());

    assertThat(exitCode).isZero();
    assertThat(folder.resolve("charts/round-trip.svg"))
        .content()
        .contains("Verbena, verbs", ">0.25<", "two CPUs");
    assertThat(out.toString()).contains("round-trip.svg");
  }

  @Test
  void saysThatThereAreNoResultsToDraw() {
    Path none = folder.resolve("none.csv");

    assertThat(run("--plot", none.toString())).isEqualTo(2);

    assertThat(out.toString()).contains("--plot: " + none + " (expected: a file of results");
  }

  private int run(String... arguments) {
    PrintWriter writer = new PrintWriter(out, true);
    return new CommandLine(new Bench()).setOut(writer).setErr(writer).execute(arguments);
  }
}
