// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;

/** Excludes all processes of a folder from each other, for some file operations. */
final class FolderLock {
  private static final String FILE = "lock";
  private static final long RETRY_NANOS = 1_000_000;

  private FolderLock() {}

  /** What is done meanwhile. */
  interface Action<T> {
    T run() throws IOException;
  }

  static <T> T hold(Path folder, Action<T> action) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            folder.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      take(channel);
      return action.run();
    }
  }

  private static void take(FileChannel channel) throws IOException {
    while (true) {
      try {
        if (channel.lock() != null) {
          return;
        }
      } catch (OverlappingFileLockException e) {
        // Another thread of this process has it, for which the kernel does not wait.
        LockSupport.parkNanos(RETRY_NANOS);
      }
    }
  }
}
