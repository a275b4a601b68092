// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Files of sysfs and proc, below a root that is {@code /} but for tests. */
public final class KernelFiles {
  private final Path root;

  /** Those below {@code root}. */
  public KernelFiles(Path root) {
    this.root = root;
  }

  /**
   * Returns the file's text without the blanks around it; null if there is no such file, or the
   * kernel does not let it be read.
   */
  public @Nullable String read(String file) {
    try {
      return Files.readString(root.resolve(file)).strip();
    } catch (IOException e) {
      return null;
    }
  }

  /** As {@link #read}; -1 if it is no number. */
  public long number(String file) {
    String text = read(file);
    return text != null && text.matches("\\d{1,18}") ? Long.parseLong(text) : -1;
  }

  /** Returns whether a file is there. */
  public boolean exists(String file) {
    return Files.exists(root.resolve(file));
  }

  /** The names in a folder, in order; none if it is not there. */
  public List<String> names(String folder) {
    try (Stream<Path> files = Files.list(root.resolve(folder))) {
      return files.map(file -> String.valueOf(file.getFileName())).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  /** Returns the name of what a link leads to, as of a driver; null if there is none. */
  public @Nullable String target(String link) {
    try {
      Path file = root.resolve(link).toRealPath().getFileName();
      return file == null ? null : file.toString();
    } catch (IOException e) {
      return null;
    }
  }
}
