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
 * Direct memory of the JVM, of which slabs are made. All slabs together take no more than three
 * quarters of what the JVM allows, so that others in the program find some too.
 *
 * <p>A JVM without direct memory collects garbage and sleeps before it refuses, half a second in
 * all. So what it refused is not asked for again before enough may have been freed for it to
 * succeed: by somebody, or by slabs that were given up and that the next collection frees.
 * Thread-safe; allocates without a lock.
 */
public final class DirectMemory {
  private static final String OPTION = "-XX:MaxDirectMemorySize";

  /** Netty has found the limit out: that of the option, or else that of the heap. */
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
     * @param device the device where it will be
     * @throws OutOfMemoryError if there is not enough left
     */
    ByteBuffer allocate(Device device, int length);
  }

  /** So many bytes were refused while others were in use. */
  private record RefusedAllocation(int length, long inUse, OutOfMemoryError error) {}

  /**
   * Direct memory from elsewhere than the JVM, as in simulations.
   *
   * @param most bytes that the JVM allows
   * @param inUse how many of them are taken, by anybody
   * @param source allocates it
   */
  public DirectMemory(long most, LongSupplier inUse, Source source) {
    this.most = most;
    this.inUse = inUse;
    this.source = source;
    share = new RegistrationLimit(most - (most >> 2));
  }

  /** The direct memory of this JVM. */
  public static DirectMemory jvm() {
    return OF_JVM;
  }

  /** The bytes that all slabs together may take. */
  long share() {
    return share.bytes();
  }

  /** Reserves bytes for a slab; returns false and takes nothing if the slabs have their share. */
  boolean reserve(long bytes) {
    return share.reserve(bytes);
  }

  /** Takes back bytes that were reserved and not allocated. */
  void giveBack(long bytes) {
    share.giveBack(bytes);
  }

  /**
   * Counts a slab that was given up: the garbage collector frees it when nothing can reach its
   * bytes.
   */
  void giveUp(long bytes) {
    share.giveBack(bytes);
    givenUp.addAndGet(bytes);
  }

  /**
   * Allocates memory to register with a device.
   *
   * @throws MemoryLimitException if the JVM has no more, or had no more and nothing was freed
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
      // The JVM has collected all garbage that it could; what was freed since then does not count.
      givenUp.set(0);
      refusal = new RefusedAllocation(length, Math.max(inUse.getAsLong(), most - length + 1), e);
      throw refused(operation, length, e);
    }
  }

  /** Returns whether it makes sense to ask again: for less, or as enough may have been freed. */
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
   * The error of an allocation beyond the share of slabs.
   *
   * @param ceiling what the user allows to be registered
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
