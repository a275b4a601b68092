// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A new folder that only this user can read or write, for library files to load. {@link #close}
 * deletes the folder and its files; a library that Linux has loaded does not need its file name any
 * more.
 */
final class PrivateFolder implements AutoCloseable {
  private final Path path;
  private final Deque<Path> files = new ArrayDeque<>();

  /** Creates the folder in {@code java.io.tmpdir}. */
  PrivateFolder() throws IOException {
    // createTempDirectory sets the permissions rwx------.
    path = Files.createTempDirectory("verbena-disni-");
  }

  /** Copies the stream to a new file of this name. */
  Path add(String name, InputStream content) throws IOException {
    Path file = path.resolve(name);
    files.push(file);
    Files.copy(content, file);
    return file;
  }

  /**
   * Deletes the files and the folder. Ignores failures, which do not affect a loaded library: on
   * NFS, a mapped file stays in the folder under another name.
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
      // Ignored, see close.
    }
  }
}
