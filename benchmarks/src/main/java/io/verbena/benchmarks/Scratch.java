// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Temporary files of a case, in shared memory where there is some. Closing it deletes them. */
final class Scratch implements AutoCloseable {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  private final Path folder;

  Scratch() throws IOException {
    folder =
        Files.isWritable(SHARED_MEMORY)
            ? Files.createTempDirectory(SHARED_MEMORY, "verbena-bench")
            : Files.createTempDirectory("verbena-bench");
  }

  Path folder() {
    return folder;
  }

  Path file(String name) {
    return folder.resolve(name);
  }

  @Override
  public void close() throws IOException {
    List<Path> all;
    try (Stream<Path> walk = Files.walk(folder)) {
      all = walk.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path each : all) {
      Files.delete(each);
    }
  }
}
