// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A new folder that only this user can read or write, for files that are loaded from it; gone, with
 * them, when it is closed. Linux needs no name of a library that it has loaded.
 */
final class PrivateFolder implements AutoCloseable {
  private final Path path;
  private final Deque<Path> files = new ArrayDeque<>();

  /** In {@code java.io.tmpdir}. */
  PrivateFolder() throws IOException {
    // With the permissions rwx------.
    path = Files.createTempDirectory("verbena-disni-");
  }

  /** Copies what the stream has to a new file of this name. */
  Path add(String name, InputStream content) throws IOException {
    Path file = path.resolve(name);
    files.push(file);
    Files.copy(content, file);
    return file;
  }

  /**
   * Deletes what can be deleted. What is left says nothing about the libraries, which may be
   * loaded: on NFS a file that is mapped stays in the folder under another name.
   */
  @Override
  public void close() {
    while (!files.isEmpty()) {
      delete(files.pop());
    }
    delete(path);
  }

  private static void delete(Path each) {
    try {
      Files.deleteIfExists(each);
    } catch (IOException e) {
      // It is left, as said above.
    }
  }
}
