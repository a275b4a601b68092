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
 * The answers of a device in the tests of the TCK, in a file: a test and an answer per line. {@link
 * VerbsTck#observed} writes them, and who compares devices reads those of several. Any thread may
 * call.
 */
public final class ObservedResults {
  private final Path file;

  /** Answers in this file, which need not exist. */
  public ObservedResults(Path file) {
    this.file = file;
  }

  /** Deletes the answers of an earlier run. */
  public void clear() {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.write(file, new byte[0]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Appends an answer; {@link #clear} comes first. */
  public synchronized void add(String test, String answer) {
    try {
      Files.writeString(file, test + '\t' + answer + '\n', StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The different answers of each test, sorted. */
  public Map<String, SortedSet<String>> read() {
    Map<String, SortedSet<String>> answers = new TreeMap<>();
    try {
      for (String line : Files.readAllLines(file)) {
        int tab = line.indexOf('\t');
        answers
            .computeIfAbsent(line.substring(0, tab), test -> new TreeSet<>())
            .add(line.substring(tab + 1));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return answers;
  }

  /** Whether a run has left answers. */
  public boolean exist() {
    return Files.exists(file);
  }
}
