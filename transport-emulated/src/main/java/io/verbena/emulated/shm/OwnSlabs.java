// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.hca.FailureLog;
import io.verbena.emulated.roce.SharedPlace;
import io.verbena.verbs.Gid;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Memory of this host that its peers can map: slabs, each a file for as long as anything here can
 * reach its bytes. Thread-safe.
 */
final class OwnSlabs implements Slabs {
  /** Less memory is not shared: packets do not refer to so few bytes. */
  private static final int LEAST = 2048;

  private static final int PAGE = 4096;

  /** The least time from one collection that is asked for to the next. */
  private static final long COLLECTION_NANOS = 1_000_000_000;

  private static final Cleaner CLEANER = Cleaner.create();

  private final SharedFolder folder;
  private final Gid host;
  private final SleepFlag flag;
  private final long most;
  private volatile Slab[] slabs = {};

  // Under the monitor of this.
  private long bytes;
  private long collectedAt = System.nanoTime() - COLLECTION_NANOS;
  private int made;
  private boolean closed;
  private boolean told;

  /**
   * A slab.
   *
   * @param memory does not keep it: it is cleared before the address can be other memory's
   */
  private record Slab(int number, long address, int length, WeakReference<ByteBuffer> memory) {}

  /**
   * @param flag tells peers that slabs are gone
   * @param most the bytes of all slabs, also of those that nothing reaches and the collector has
   *     not found: it does not run for the sake of memory outside the heap
   */
  OwnSlabs(SharedFolder folder, Gid host, SleepFlag flag, long most) {
    this.most = most;
    this.folder = folder;
    this.host = host;
    this.flag = flag;
  }

  /**
   * Returns zeroed memory in a slab of its own; memory that no peer can map if it is short, or the
   * folder has no room for it.
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

  /** Logs, once, why memory is not shared: it is slower, and does what it is for all the same. */
  private synchronized void refused(IOException why) {
    if (!told && !closed) {
      told = true;
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

  /** Reserves bytes; returns a number for their slab. */
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
                + " beside "
                + bytes
                + " (expected: <= "
                + most
                + ")");
      }
    } finally {
      if (collects) {
        // For the next ones: what nothing reaches counts until it is found.
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

  /** Returns where a buffer lies in a slab; null if it does not. */
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

  /** Makes no more slabs, and tells peers nothing any more: the files are removed with the host. */
  synchronized void close() {
    closed = true;
  }
}
