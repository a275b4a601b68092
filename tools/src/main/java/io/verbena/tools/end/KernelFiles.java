// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Files of sysfs and proc, below a root that is {@code /} except in tests. */
public final class KernelFiles {
  private final Path root;

  /** Reads files below {@code root}. */
  public KernelFiles(Path root) {
    this.root = root;
  }

  /**
   * Returns the file's text without surrounding blanks; null if the file does not exist or cannot
   * be read.
   */
  public @Nullable String read(String file) {
    try {
      return Files.readString(root.resolve(file)).strip();
    } catch (IOException e) {
      return null;
    }
  }

  /** Returns the number in the file; -1 if there is no number or the file cannot be read. */
  public long number(String file) {
    String text = read(file);
    return text != null && text.matches("\\d{1,18}") ? Long.parseLong(text) : -1;
  }

  /** Returns whether a file exists. */
  public boolean exists(String file) {
    return Files.exists(root.resolve(file));
  }

  /** Returns the names in a folder, sorted; empty if it does not exist. */
  public List<String> names(String folder) {
    try (Stream<Path> files = Files.list(root.resolve(folder))) {
      return files.map(file -> String.valueOf(file.getFileName())).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  /** Returns the name of a link's target, for example of a driver; null if there is none. */
  public @Nullable String target(String link) {
    try {
      Path file = root.resolve(link).toRealPath().getFileName();
      return file == null ? null : file.toString();
    } catch (IOException e) {
      return null;
    }
  }
}
