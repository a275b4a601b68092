// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.hca.FailureLog;
import io.verbena.emulated.mapped.SharedPlace;
import io.verbena.verbs.Gid;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The slabs of this host: memory that its peers can map. Each slab is a file, which is removed
 * after the slab's buffer was garbage-collected. Thread-safe.
 */
final class OwnSlabs implements Slabs {
  /** The shortest memory that is shared, in bytes: packets do not refer to shorter payload. */
  private static final int LEAST = 2048;

  private static final int PAGE = 4096;

  /** The shortest time between two requests for a garbage collection. */
  private static final long COLLECTION_NANOS = 1_000_000_000;

  private static final Cleaner CLEANER = Cleaner.create();

  private final SharedFolder folder;
  private final Gid host;
  private final SleepFlag flag;
  private final long most;
  private volatile Slab[] slabs = {};

  // Guarded by the monitor of this.
  private long bytes;
  private long collectedAt = System.nanoTime() - COLLECTION_NANOS;
  private int made;
  private boolean closed;
  private boolean reported;

  /**
   * A slab.
   *
   * @param memory is cleared before other memory can have the address
   */
  private record Slab(int number, long address, int length, WeakReference<ByteBuffer> memory) {}

  /**
   * @param flag tells peers that slabs were freed
   * @param most the limit on the bytes of all slabs, including those that are garbage but not
   *     collected yet: memory outside the heap does not make the collector run
   */
  OwnSlabs(SharedFolder folder, Gid host, SleepFlag flag, long most) {
    this.most = most;
    this.folder = folder;
    this.host = host;
    this.flag = flag;
  }

  /**
   * Returns zeroed memory in a slab of its own. Returns memory that no peer can map if {@code
   * length} is below 2048 bytes, or no slab can be created.
   */
  ByteBuffer allocate(int length) {
    if (length >= LEAST && length <= Integer.MAX_VALUE - PAGE && NativeAddress.isKnown()) {
      try {
        return add(length).slice(0, length);
      } catch (IOException e) {
        refused(e);
      }
    }
    return ByteBuffer.allocateDirect(length);
  }

  /** Logs, once, why memory is not shared. Such memory works, but is slower. */
  private synchronized void refused(IOException why) {
    if (!reported && !closed) {
      reported = true;
      FailureLog.get().failed(why);
    }
  }

  private ByteBuffer add(int length) throws IOException {
    int rounded = (length + PAGE - 1) & -PAGE;
    int number = reserve(rounded);
    ByteBuffer memory;
    try {
      memory = folder.createSlab(host, number, rounded);
    } catch (IOException | RuntimeException | Error e) {
      giveBack(rounded);
      throw e;
    }
    Slab slab =
        new Slab(number, NativeAddress.of(memory), memory.capacity(), new WeakReference<>(memory));
    synchronized (this) {
      Slab[] more = Arrays.copyOf(slabs, slabs.length + 1);
      more[slabs.length] = slab;
      slabs = more;
    }
    CLEANER.register(memory, () -> freed(slab));
    return memory;
  }

  /** Reserves bytes; returns the number of their slab. */
  private int reserve(int length) throws IOException {
    boolean collects = false;
    try {
      synchronized (this) {
        if (closed) {
          throw new IOException("the shared memory of host " + host + " is closed");
        }
        if (bytes + length <= most) {
          bytes += length;
          return ++made;
        }
        long now = System.nanoTime();
        collects = now - collectedAt >= COLLECTION_NANOS;
        collectedAt = collects ? now : collectedAt;
        throw new IOException(
            "bytes of shared memory: "
                + length
                + " in addition to "
                + bytes
                + " (expected: <= "
                + most
                + ")");
      }
    } finally {
      if (collects) {
        // For the next calls: garbage counts until it is collected.
        System.gc();
      }
    }
  }

  private synchronized void giveBack(int length) {
    bytes -= length;
  }

  private void freed(Slab slab) {
    try {
      folder.removeSlab(host, slab.number);
    } catch (IOException e) {
      FailureLog.get().failed(e);
    }
    synchronized (this) {
      bytes -= slab.length;
      slabs = Stream.of(slabs).filter(each -> each.number != slab.number).toArray(Slab[]::new);
      if (!closed) {
        flag.slabFreed();
      }
    }
  }

  /** Returns the place of a buffer in a slab; null if the buffer is in no slab. */
  @Nullable SharedPlace placeOf(ByteBuffer buffer) {
    Slab[] all = slabs;
    if (all.length == 0) {
      return null;
    }
    long address = NativeAddress.of(buffer);
    for (Slab each : all) {
      long offset = address - each.address;
      if (offset >= 0 && offset + buffer.capacity() <= each.length && each.memory.get() != null) {
        return new SharedPlace(each.number, (int) offset);
      }
    }
    return null;
  }

  @Override
  public @Nullable ByteBuffer find(int number) {
    for (Slab each : slabs) {
      if (each.number == number) {
        return each.memory.get();
      }
    }
    return null;
  }

  /** Stops creating slabs and telling peers of freed ones; the files are removed with the host. */
  synchronized void close() {
    closed = true;
  }
}
