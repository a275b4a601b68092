// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The jars of the previous version of Ratis, which the build copies into a folder. */
public final class PreviousRatis {
  public static final Path FOLDER = Path.of("target/previous-ratis").toAbsolutePath();

  private PreviousRatis() {}

  /** Returns the jars; there is at least one. */
  public static List<Path> jars() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      List<Path> jars = files.toList();
      assertThat(jars).as("Ratis in " + FOLDER).isNotEmpty();
      return jars;
    }
  }

  /** Returns whether those jars replace an entry of a class path. The adapter's own jar stays. */
  public static boolean replaces(Path entry) {
    return entry.getFileName().toString().startsWith("ratis-");
  }
}
