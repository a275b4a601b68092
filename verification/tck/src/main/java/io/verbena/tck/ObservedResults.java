// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A file of the results that {@link VerbsTck#observed} reports, with a test and a result per line,
 * for the comparison of devices. Thread-safe.
 */
public final class ObservedResults {
  private final Path file;

  /** Creates an object for a file, which need not exist. */
  public ObservedResults(Path file) {
    this.file = file;
  }

  /** Deletes the results of an earlier run. */
  public void clear() {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.write(file, new byte[0]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Appends a result. {@link #clear} must have been called before. */
  public synchronized void add(String test, String result) {
    try {
      Files.writeString(file, test + '\t' + result + '\n', StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the distinct results of each test, sorted. */
  public Map<String, SortedSet<String>> read() {
    Map<String, SortedSet<String>> results = new TreeMap<>();
    try {
      for (String line : Files.readAllLines(file)) {
        int tab = line.indexOf('\t');
        results
            .computeIfAbsent(line.substring(0, tab), test -> new TreeSet<>())
            .add(line.substring(tab + 1));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return results;
  }

  /** Returns whether the file exists. */
  public boolean exists() {
    return Files.exists(file);
  }
}
