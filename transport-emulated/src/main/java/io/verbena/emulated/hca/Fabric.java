// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.AddressVector;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairOptions;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What emulated HCAs are plugged into. It decides how requests travel: it makes the queue pairs of
 * its devices, all of one kind, and says what a device needs to know of the medium.
 *
 * <p>Called by devices and completion queues, on whichever thread uses them.
 */
public interface Fabric {

  /** The source of what a peer must not guess. */
  Secrets secrets();

  /**
   * Makes a queue pair of a device that is plugged in.
   *
   * @param number a number that {@link #takeNumber} gave
   */
  EmulatedQueuePair createQueuePair(
      EmulatedProtectionDomain domain, int number, QueuePairOptions options);

  /** The counters that its devices keep. */
  Set<Counter> counted();

  /** The GID of a device that is being opened here. */
  Gid nextGid();

  /** A device was opened. */
  void plug(EmulatedDevice device);

  /** A device was closed. */
  void unplug(EmulatedDevice device);

  /** The name of its devices. */
  default String deviceName() {
    return EmulatedDevice.NAME;
  }

  /**
   * Checks whether packets can be sent as the way to a peer says, of which all is within its range.
   *
   * @param verb for the error, as in {@code create address handle}
   * @throws io.verbena.verbs.VerbsException {@code NOT_SUPPORTED}, naming what cannot be
   */
  default void check(String verb, AddressVector vector) {}

  /** The largest packet that its devices send. */
  default Mtu mtu() {
    return EmulatedDevice.MTU;
  }

  /** What {@link io.verbena.verbs.Device#hasCostlyPosts} returns for its devices. */
  default boolean hasCostlyPosts() {
    return false;
  }

  /** Takes a number for a queue pair; false if another device of the same HCA has it. */
  default boolean takeNumber(int number) {
    return true;
  }

  /** Gives such a number back. */
  default void giveNumber(int number) {}

  /**
   * Returns once every copy between memory of its devices that is under way at this moment has
   * ended, however the queue pairs that it goes through change or close meanwhile.
   */
  void awaitCopies();

  /** Runs a task of a device after a delay; not at all once the device is closed. */
  default void schedule(EmulatedDevice device, Runnable task, long delayNanos) {
    device.scheduleByClock(task, delayNanos);
  }

  /** Whether {@link #progress} is of any use. */
  default boolean isDrivenByPolling() {
    return false;
  }

  /**
   * Somebody polled a completion queue that is empty.
   *
   * @return whether there may be something in it now
   */
  default boolean progress() {
    return false;
  }

  /**
   * Somebody is about to sleep until a completion comes, and polls no more.
   *
   * @param awaits whether that is by {@link #await}
   */
  default void pollingEnds(boolean awaits) {}

  /** A thread of a program that waits. */
  interface Waiter {
    /** Whether what it waits for has come. */
    boolean isDue();
  }

  /**
   * Does what is to be done, and sleeps if that is nothing, once: a thread that waits for an event
   * saves another one the waking of it. Returns at any time.
   *
   * @param nanos how long to sleep at the most
   * @return false if somebody else does all that: the caller is woken by {@link #rouse}, if it
   *     parks
   */
  default boolean await(Waiter waiter, long nanos) {
    return false;
  }

  /** Ends the sleep of a thread, in {@link #await} or parked, or its next one. */
  default void rouse(@Nullable Thread waiting) {
    LockSupport.unpark(waiting);
  }
}
