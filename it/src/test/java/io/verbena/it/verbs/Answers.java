package io.verbena.it.verbs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** What a device answered in the tests of the TCK, in a file: a test and an answer a line. */
final class Answers {
  private final Path file;

  Answers(Path file) {
    this.file = file;
  }

  /** Forgets those of an earlier run. */
  void clear() {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.deleteIfExists(file);
      Files.createFile(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  synchronized void add(String test, String answer) {
    try {
      Files.writeString(file, test + '\t' + answer + '\n', StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The different answers of each test, sorted. */
  Map<String, SortedSet<String>> read() {
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

  boolean exist() {
    return Files.exists(file);
  }

  /** The folder that the build gives for what tests leave behind. */
  static Path results() {
    return Path.of(System.getProperty("verbena.it.results", "target"));
  }

  static Answers ofTheEmulatedHca() {
    return new Answers(results().resolve("answers-emulated.tsv"));
  }

  /** In the guest's results, as the host sees them. */
  static Answers ofRxe() {
    return new Answers(results().resolve("guest/nodes-1/answers-rxe.tsv"));
  }

  /** The same file as the guest writes it. */
  static Answers ofRxeInTheGuest() {
    return new Answers(Path.of(System.getenv("VERBENA_RESULTS")).resolve("answers-rxe.tsv"));
  }
}
