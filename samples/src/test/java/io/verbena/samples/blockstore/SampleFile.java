// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/** A small file whose messages differ and whose last one is short. */
final class SampleFile {
  static final String NAME = "sample";
  static final int LENGTH = 40 * StreamToTwo.MESSAGE_LENGTH + 13;

  private SampleFile() {}

  static Path in(Path folder) throws IOException {
    byte[] content = new byte[LENGTH];
    new Random(42).nextBytes(content);
    return Files.write(folder.resolve(NAME), content);
  }
}
