// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.hca.FailureLog;
import io.verbena.verbs.Gid;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.util.HashMap;
import java.util.Map;

/**
 * Removes the files of peers that are gone, whose memory would take room until another host opens.
 * For a killed process, the kernel may close the socket, from which peers learn of the end, before
 * it releases the lock on the host's file. So removal is tried again for five seconds; files that
 * are left then are removed by the next host that opens. For the driver only.
 */
final class DepartedHostFiles {
  private static final long PATIENCE_NANOS = 5_000_000_000L;
  private static final long RETRY_NANOS = 20_000_000;

  private final SharedFolder folder;

  /** The time at which each host departed. */
  private final Map<Gid, Long> hosts = new HashMap<>();

  private long triedAt;

  /** Whether there are any hosts; also read by a thread that is about to sleep. */
  private volatile boolean any;

  DepartedHostFiles(SharedFolder folder) {
    this.folder = folder;
  }

  void add(Gid host) {
    long now = System.nanoTime();
    hosts.put(host, now);
    any = true;
    triedAt = now - RETRY_NANOS;
  }

  /** Returns whether there are no files to remove; for any thread. */
  boolean isEmpty() {
    return !any;
  }

  /**
   * Removes the files of hosts whose process has ended; forgets the other hosts after five seconds.
   */
  void removeFiles() {
    if (isEmpty()) {
      return;
    }
    long now = System.nanoTime();
    if (now - triedAt >= RETRY_NANOS) {
      triedAt = now;
      hosts.entrySet().removeIf(each -> isDone(each.getKey(), now - each.getValue()));
      any = !hosts.isEmpty();
    }
  }

  private boolean isDone(Gid host, long nanos) {
    boolean last = nanos > PATIENCE_NANOS;
    try {
      return folder.removeAbandoned(host) || last;
    } catch (IOException | DirectoryIteratorException e) {
      // For instance, too many files are open for now.
      if (last) {
        FailureLog.get().failed(e);
      }
      return last;
    }
  }
}
