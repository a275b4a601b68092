// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.util.internal.PlatformDependent;
import io.verbena.MemoryLimitException;
import io.verbena.core.stat.JvmDirectMemory;
import io.verbena.verbs.Device;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The direct memory of the JVM, of which slabs are made. All slabs together take at most three
 * quarters of the JVM's limit, so that the rest of the program finds some too.
 *
 * <p>A JVM at its limit collects garbage and sleeps before it refuses, for half a second in all. So
 * a refused allocation is not tried again before enough memory may be free: because memory was
 * freed, or because slabs were given up, which the next collection frees. Thread-safe; allocates
 * without a lock.
 */
public final class DirectMemory {
  private static final String OPTION = "-XX:MaxDirectMemorySize";

  /** Netty determines the limit: that of the option, or else that of the heap. */
  private static final DirectMemory OF_JVM =
      new DirectMemory(
          PlatformDependent.estimateMaxDirectMemory(),
          JvmDirectMemory::inUse,
          Device::allocateMemory);

  private final long most;
  private final LongSupplier inUse;
  private final Source source;
  private final RegistrationLimit share;
  private final AtomicLong givenUp = new AtomicLong();
  private volatile @Nullable RefusedAllocation refusal;

  /** Allocates memory for slabs. */
  public interface Source {
    /**
     * Allocates zeroed memory that will be registered.
     *
     * @param device the device where the memory will be registered
     * @param length the length, in bytes
     * @throws OutOfMemoryError if there is not enough memory
     */
    ByteBuffer allocate(Device device, int length);
  }

  /** The JVM refused {@code length} bytes while {@code inUse} others were in use. */
  private record RefusedAllocation(int length, long inUse, OutOfMemoryError error) {}

  /**
   * Direct memory from another source than the JVM, as in simulations.
   *
   * @param most the limit, in bytes
   * @param inUse returns the bytes in use, by the whole program
   * @param source allocates the memory
   */
  public DirectMemory(long most, LongSupplier inUse, Source source) {
    this.most = most;
    this.inUse = inUse;
    this.source = source;
    share = new RegistrationLimit(most - (most >> 2));
  }

  /** Returns the direct memory of this JVM. */
  public static DirectMemory jvm() {
    return OF_JVM;
  }

  /** Returns the bytes that all slabs together may take. */
  long share() {
    return share.bytes();
  }

  /**
   * Reserves bytes for a slab; returns false and reserves nothing if they exceed the share of
   * slabs.
   */
  boolean reserve(long bytes) {
    return share.reserve(bytes);
  }

  /** Takes back bytes that were reserved and not allocated. */
  void giveBack(long bytes) {
    share.giveBack(bytes);
  }

  /**
   * Counts a slab that was given up; the garbage collector frees it once its bytes are unreachable.
   */
  void giveUp(long bytes) {
    share.giveBack(bytes);
    givenUp.addAndGet(bytes);
  }

  /**
   * Allocates memory to register with a device.
   *
   * @throws MemoryLimitException if the JVM has no more memory, or had none at the last attempt and
   *     none was freed since
   */
  ByteBuffer allocate(String operation, Device device, int length) {
    RefusedAllocation last = refusal;
    if (last != null && !mayHelp(last, length)) {
      throw refused(operation, length, last.error);
    }
    try {
      ByteBuffer memory = source.allocate(device, length);
      if (last != null && length >= last.length) {
        refusal = null;
      }
      return memory;
    } catch (OutOfMemoryError e) {
      // The JVM has just collected all garbage, so slabs given up before no longer count.
      givenUp.set(0);
      refusal = new RefusedAllocation(length, Math.max(inUse.getAsLong(), most - length + 1), e);
      throw refused(operation, length, e);
    }
  }

  /**
   * Returns whether an allocation may succeed after a refused one: it is shorter, or enough memory
   * may be free.
   */
  private boolean mayHelp(RefusedAllocation last, int length) {
    if (length < last.length) {
      return true;
    }
    long now = inUse.getAsLong();
    long garbage = givenUp.get();
    return (now < last.inUse || garbage > 0) && now + length - most <= garbage;
  }

  private MemoryLimitException refused(String operation, int length, OutOfMemoryError cause) {
    return new MemoryLimitException(
        operation,
        null,
        "bytes: "
            + length
            + " beside "
            + inUse.getAsLong()
            + " of direct memory in use (expected: together <= "
            + most
            + ", the JVM's limit); release buffers, or raise "
            + OPTION,
        cause);
  }

  /**
   * Returns the error of an allocation beyond the share of slabs.
   *
   * @param ceiling the transport's limit on registered memory, in bytes
   */
  MemoryLimitException reached(String operation, long wanted, long ceiling) {
    return new MemoryLimitException(
        operation,
        null,
        "bytes: "
            + wanted
            + " beside "
            + share.used()
            + " allocated (expected: together <= "
            + share.bytes()
            + ", three quarters of the JVM's limit of direct memory, "
            + most
            + ", though RdmaOptions.maxRegisteredBytes is "
            + ceiling
            + "); release buffers, or raise "
            + OPTION);
  }
}
