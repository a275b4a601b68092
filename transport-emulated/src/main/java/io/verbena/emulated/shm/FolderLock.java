// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The lock of a folder, held during some file operations: excludes other processes that use the
 * folder, and other threads of this process.
 *
 * <p>The kernel's lock belongs to a process, and is lost when any thread of the process closes the
 * file. So only one thread of a JVM opens the file at a time, across all class loaders and folders.
 */
final class FolderLock {
  private static final String KEY = FolderLock.class.getName();
  private static final String FILE = "lock";
  private static final long RETRY_NANOS = 1_000_000;

  /**
   * The longest wait for the lock: longer than a running process holds it, but finite, since a
   * stopped process may hold it forever.
   */
  private static final long PATIENCE_NANOS = 10_000_000_000L;

  private FolderLock() {}

  /** The action to run under the lock. */
  interface Action<T> {
    T run() throws IOException;
  }

  /**
   * Runs an action under the lock of a folder.
   *
   * @throws IOException also if another holder keeps the lock for 10 s, or the thread is
   *     interrupted
   */
  static <T> T hold(Path folder, Action<T> action) throws IOException {
    long begun = System.nanoTime();
    ReentrantLock ofThreads = ofThreads();
    take(folder, ofThreads);
    try (FileChannel channel =
        FileChannel.open(
            folder.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      take(folder, channel, begun);
      return action.run();
    } finally {
      ofThreads.unlock();
    }
  }

  private static ReentrantLock ofThreads() {
    // Fair, so that a thread waits only for those that came before it.
    return (ReentrantLock)
        System.getProperties().computeIfAbsent(KEY, absent -> new ReentrantLock(true));
  }

  private static void take(Path folder, ReentrantLock ofThreads) throws IOException {
    try {
      if (!ofThreads.tryLock(PATIENCE_NANOS, TimeUnit.NANOSECONDS)) {
        throw held(folder, "another thread");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw interrupted(folder);
    }
  }

  private static IOException interrupted(Path folder) {
    return new InterruptedIOException(folder.resolve(FILE) + ": interrupted");
  }

  private static void take(Path folder, FileChannel channel, long begun) throws IOException {
    while (!tryTake(channel)) {
      if (Thread.currentThread().isInterrupted()) {
        throw interrupted(folder);
      }
      if (System.nanoTime() - begun > PATIENCE_NANOS) {
        throw held(folder, "another process");
      }
      LockSupport.parkNanos(RETRY_NANOS);
    }
  }

  private static boolean tryTake(FileChannel channel) throws IOException {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      // Another thread of this process has the lock; the system properties were replaced meanwhile.
      return false;
    }
  }

  private static IOException held(Path folder, String by) {
    return new IOException(
        folder.resolve(FILE)
            + ": locked by "
            + by
            + " for "
            + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NANOS)
            + " s; is it stopped?");
  }
}
