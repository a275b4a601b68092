// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.chart;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A results file: comma-separated values under a line of column names, and comments that begin with
 * #.
 *
 * @param caption the first comment: place and time of the measurement; empty if there is none
 * @param results the results, in the file's order
 */
record ResultsFile(String caption, List<Result> results) {
  private static final String COMMENT = "#";

  /**
   * Reads a file. Omits failed cases, which have no figures.
   *
   * @throws IOException if the file cannot be read or has another format
   */
  static ResultsFile read(Path file) throws IOException {
    List<String> lines = Files.readAllLines(file);
    String caption =
        lines.stream()
            .filter(line -> line.startsWith(COMMENT))
            .findFirst()
            .map(line -> line.substring(COMMENT.length()).strip())
            .orElse("");
    List<String> rows =
        lines.stream().filter(line -> !line.startsWith(COMMENT) && !line.isBlank()).toList();
    if (rows.isEmpty()) {
      throw new IOException(file + ": no rows (expected: what bin/bench writes)");
    }
    List<String> names = List.of(rows.get(0).split(",", -1));
    for (String name : List.of("workload", "participant", "role", "unit", "median", "min", "max")) {
      if (!names.contains(name)) {
        throw new IOException(file + ": no column " + name + " (expected: what bin/bench writes)");
      }
    }
    List<Result> results = new ArrayList<>();
    for (String row : rows.subList(1, rows.size())) {
      // Only the last column may contain commas, and it is not read.
      List<String> cells = Arrays.asList(row.split(",", -1));
      double median = number(cells.get(names.indexOf("median")));
      double least = number(cells.get(names.indexOf("min")));
      double most = number(cells.get(names.indexOf("max")));
      if (Double.isNaN(median) && (Double.isNaN(least) || Double.isNaN(most))) {
        continue;
      }
      results.add(
          new Result(
              cells.get(names.indexOf("workload")),
              cells.get(names.indexOf("participant")),
              cells.get(names.indexOf("role")),
              cells.get(names.indexOf("unit")),
              median,
              Double.isNaN(least) ? median : least,
              Double.isNaN(most) ? median : most));
    }
    return new ResultsFile(caption, results);
  }

  private static double number(String cell) {
    return cell.isEmpty() ? Double.NaN : Double.parseDouble(cell);
  }
}
