// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * An opened HCA. Closing it fails with {@link VerbsError#BUSY} while protection domains, completion
 * queues, channels or connection managers of it are open, and names them.
 */
public interface Device extends AutoCloseable {

  /** Returns what the device is and can do. */
  DeviceAttributes attributes();

  /**
   * Returns the port of the HCA that the device was opened on: another {@link PortAttributes#number
   * number} than 1 only where the address says or implies it.
   */
  PortAttributes port();

  /** Returns how many ports its HCA has, numbered from 1. By default 1. */
  default int portCount() {
    return 1;
  }

  /**
   * Returns whether each post has a price of its own: a system call, or a write to a doorbell of
   * the device. Requests are then better linked, and short payloads inline. By default false.
   */
  default boolean hasCostlyPosts() {
    return false;
  }

  /**
   * Allocates memory to register that suits the device best: an HCA on shared memory lets peers
   * copy out of it what else passes through a ring. The memory is all 0, and lives until the
   * garbage collector finds that nothing can reach it; it outlives the device. By default it is the
   * JVM's direct memory.
   *
   * @param length 1 or more
   * @throws OutOfMemoryError if there is none
   */
  default ByteBuffer allocateMemory(int length) {
    return ByteBuffer.allocateDirect(length);
  }

  /**
   * Returns whether it moves bytes of {@link #allocateMemory} so much faster than others that it
   * pays to copy a message into such memory rather than to register the message's own. By default
   * false: all memory is the same.
   */
  default boolean prefersOwnMemory() {
    return false;
  }

  /** Returns what it counts by itself; {@link DeviceCounters#NONE} where it does not count. */
  DeviceCounters counters();

  /**
   * Allocates a protection domain.
   *
   * @throws VerbsException {@code NO_MEMORY} beyond {@link DeviceAttributes#maxProtectionDomains}
   */
  ProtectionDomain allocateProtectionDomain();

  /** Creates a channel on which completion queues announce themselves to a thread that sleeps. */
  CompletionChannel createCompletionChannel();

  /**
   * Creates a completion queue that any thread may poll.
   *
   * @param depth completions that it must hold at least, 1 to {@link
   *     DeviceAttributes#maxCompletions}
   * @param channel where its events go; null if it is only ever polled, which is cheaper
   * @throws VerbsException {@code INVALID} for a depth out of range, {@code NO_MEMORY} beyond the
   *     device's limit
   */
  default CompletionQueue createCompletionQueue(int depth, @Nullable CompletionChannel channel) {
    return createCompletionQueue(depth, channel, false);
  }

  /**
   * Creates a completion queue.
   *
   * @param depth as above
   * @param channel as above
   * @param singleThreaded promises that no two threads poll it at once, and saves the provider a
   *     lock ({@code IBV_CREATE_CQ_ATTR_SINGLE_THREADED})
   * @throws VerbsException as above
   */
  CompletionQueue createCompletionQueue(
      int depth, @Nullable CompletionChannel channel, boolean singleThreaded);

  /** Creates a connection manager, with an event queue of its own. */
  ConnectionManager createConnectionManager();

  /**
   * Waits for the next asynchronous event.
   *
   * @param timeoutNanos how long to wait at the most; 0 to look only
   * @return the event, or null when the time is over or the device was closed
   */
  @Nullable AsyncEvent awaitAsyncEvent(long timeoutNanos) throws InterruptedException;

  @Override
  void close();
}
