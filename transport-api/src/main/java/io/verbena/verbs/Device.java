// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * An opened HCA. Closing it fails with {@link VerbsError#BUSY} while its protection domains,
 * completion queues, channels or connection managers are open; the message names them.
 */
public interface Device extends AutoCloseable {

  /** Returns the device's identity, capabilities and limits. */
  DeviceAttributes attributes();

  /**
   * Returns the port of the HCA that the device was opened on: {@link PortAttributes#number number}
   * 1 unless the address names or implies another.
   */
  PortAttributes port();

  /** Returns the number of ports of the HCA; they are numbered from 1. By default 1. */
  default int portCount() {
    return 1;
  }

  /**
   * Returns whether each post costs a system call or a write to a doorbell of the device. If so,
   * callers should link requests and post short payloads inline. By default false.
   */
  default boolean hasCostlyPosts() {
    return false;
  }

  /**
   * Allocates the memory that suits the device best, to be registered: an HCA on shared memory lets
   * peers copy directly out of it, where other bytes pass through a ring. The memory is all 0; the
   * garbage collector frees it once it is unreachable, perhaps after the device is closed. By
   * default it is the JVM's direct memory.
   *
   * @param length the length in bytes, 1 or more
   * @throws OutOfMemoryError if there is not enough memory
   */
  default ByteBuffer allocateMemory(int length) {
    return ByteBuffer.allocateDirect(length);
  }

  /**
   * Returns whether the device moves bytes of {@link #allocateMemory} so much faster than others
   * that copying a message there is cheaper than registering the message's own memory. By default
   * false.
   */
  default boolean prefersOwnMemory() {
    return false;
  }

  /** Returns the device's own counters; {@link DeviceCounters#NONE} if it has none. */
  DeviceCounters counters();

  /**
   * Allocates a protection domain.
   *
   * @throws VerbsException {@code NO_MEMORY} beyond {@link DeviceAttributes#maxProtectionDomains}
   */
  ProtectionDomain allocateProtectionDomain();

  /** Creates a channel by which completion queues wake a sleeping thread. */
  CompletionChannel createCompletionChannel();

  /**
   * Creates a completion queue that any thread may poll.
   *
   * @param depth the least number of completions that the queue must hold, 1 to {@link
   *     DeviceAttributes#maxCompletions}
   * @param channel the channel for the queue's events; null for a queue that is only polled, which
   *     is cheaper
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
   * @param timeoutNanos the longest wait, in nanoseconds; 0 returns at once
   * @return the event, or null when the time is over or the device was closed
   */
  @Nullable AsyncEvent awaitAsyncEvent(long timeoutNanos) throws InterruptedException;

  @Override
  void close();
}
