// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Excludes all processes of a folder from each other, for some file operations. */
final class FolderLock {
  private static final String FILE = "lock";
  private static final long RETRY_NANOS = 1_000_000;

  /** Longer than a process that runs holds it, and not for ever, as one that is stopped may. */
  private static final long PATIENCE_NANOS = 10_000_000_000L;

  private FolderLock() {}

  /** What is done meanwhile. */
  interface Action<T> {
    T run() throws IOException;
  }

  /**
   * Does something while nobody else does such things.
   *
   * @throws IOException also if another process holds it for too long
   */
  static <T> T hold(Path folder, Action<T> action) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            folder.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      take(folder, channel);
      return action.run();
    }
  }

  private static void take(Path folder, FileChannel channel) throws IOException {
    long begun = System.nanoTime();
    while (!tryTake(channel)) {
      if (System.nanoTime() - begun > PATIENCE_NANOS) {
        throw new IOException(
            folder.resolve(FILE)
                + ": locked by another process for "
                + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NANOS)
                + " s; is it stopped?");
      }
      LockSupport.parkNanos(RETRY_NANOS);
    }
  }

  private static boolean tryTake(FileChannel channel) throws IOException {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      // Another thread of this process has it.
      return false;
    }
  }
}
