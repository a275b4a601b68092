// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.emulated.mapped.SharedPlace;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairOptions;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The medium that emulated HCAs are plugged into. It creates the queue pairs of its devices, all of
 * one class, which carry the requests, and it tells a device the properties of the medium.
 *
 * <p>Devices and completion queues call it on any thread that uses them.
 */
public interface Fabric {

  /** Returns the source of numbers that a peer must not guess. */
  Secrets secrets();

  /**
   * Creates a queue pair of a device that is plugged in.
   *
   * @param number a number from {@link #takeNumber}
   */
  EmulatedQueuePair createQueuePair(
      EmulatedProtectionDomain domain, int number, QueuePairOptions options);

  /** Returns the counters that its devices keep. */
  Set<Counter> counted();

  /** Returns a GID for a device that is being opened. */
  Gid nextGid();

  /** Adds a device that was opened. */
  void plug(EmulatedDevice device);

  /** Removes a device that was closed. */
  void unplug(EmulatedDevice device);

  /** Returns the name of its devices. */
  default String deviceName() {
    return EmulatedDevice.NAME;
  }

  /**
   * Checks that packets can be sent with an address vector, whose fields are all in range.
   *
   * @param verb the verb in the error message, as in {@code create address handle}
   * @throws io.verbena.verbs.VerbsException {@code NOT_SUPPORTED}, naming the field that is not
   *     supported
   */
  default void check(String verb, AddressVector vector) {}

  /** Returns the largest packet that its devices send. */
  default Mtu mtu() {
    return EmulatedDevice.MTU;
  }

  /** Returns the value of {@link io.verbena.verbs.Device#hasCostlyPosts} for its devices. */
  default boolean hasCostlyPosts() {
    return false;
  }

  /**
   * Takes a number for a queue pair; returns false if another device of the same HCA has the
   * number.
   */
  default boolean takeNumber(int number) {
    return true;
  }

  /** Gives back a number from {@link #takeNumber}. */
  default void giveNumber(int number) {}

  /**
   * Waits until every copy between memory of its devices that is running at this moment has ended,
   * even if the queue pairs of the copy change or close meanwhile.
   */
  void awaitCopies();

  /** Allocates memory for programs; see {@link io.verbena.verbs.Device#allocateMemory}. */
  default ByteBuffer allocateMemory(int length) {
    return ByteBuffer.allocateDirect(length);
  }

  /** Returns the value of {@link io.verbena.verbs.Device#prefersOwnMemory} for its devices. */
  default boolean prefersOwnMemory() {
    return false;
  }

  /** Returns where a direct buffer lies in memory that peers can map; null if it does not. */
  default @Nullable SharedPlace placeOf(ByteBuffer memory) {
    return null;
  }

  /**
   * Withdraws from peers the memory under a killed key that they have not copied yet. By default
   * peers copy nothing by themselves.
   */
  default void withdraw(KeyEntry dead) {}

  /** Runs a task of a device after a delay; not at all once the device is closed. */
  default Scheduled schedule(EmulatedDevice device, Runnable task, long delayNanos) {
    return device.scheduleByClock(task, delayNanos);
  }

  /** Returns whether threads that poll drive the fabric, by {@link #progress}. */
  default boolean isDrivenByPolling() {
    return false;
  }

  /**
   * Does the work that is due. Called when an empty completion queue is polled.
   *
   * @return whether there may be a completion now
   */
  default boolean progress() {
    return false;
  }

  /**
   * Called when a thread stops polling and is about to sleep until a completion arrives.
   *
   * @param awaits whether the thread sleeps in {@link #await}
   */
  default void pollingEnds(boolean awaits) {}

  /** A thread of a program that waits for an event. */
  interface Waiter {
    /** Returns whether its event has arrived. */
    boolean isDue();
  }

  /**
   * Does the work that is due, or sleeps once if there is none. So the thread that waits for an
   * event drives the fabric itself, and no other thread has to wake it. May return at any time.
   *
   * @param nanos the longest time to sleep
   * @return false if another thread drives the fabric: the caller may park, and {@link #rouse}
   *     wakes it
   */
  default boolean await(Waiter waiter, long nanos) {
    return false;
  }

  /**
   * Ends the sleep of a thread, in {@link #await} or parked; if it does not sleep, ends its next
   * sleep.
   */
  default void rouse(@Nullable Thread waiting) {
    LockSupport.unpark(waiting);
  }
}
