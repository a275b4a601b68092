// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.chart;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Writes the charts of a results file. */
public final class Charts {
  private Charts() {}

  /**
   * Writes every chart for which the file has results of Verbena, as SVG.
   *
   * @param results the file that {@code bin/bench} wrote
   * @param folder the folder of the charts; charts without results in the file stay unchanged
   * @return the charts' files
   * @throws IOException if the file has another format or the charts cannot be written
   */
  public static List<Path> write(Path results, Path folder) throws IOException {
    ResultsFile file = ResultsFile.read(results);
    Files.createDirectories(folder);
    List<Path> written = new ArrayList<>();
    for (Chart chart : ChartCatalog.charts()) {
      var bars = chart.bars(file);
      if (bars.isPresent()) {
        Path target = folder.resolve(chart.id() + ".svg");
        written.add(Files.writeString(target, Svg.of(chart, bars.get(), file.caption())));
      }
    }
    return written;
  }
}
