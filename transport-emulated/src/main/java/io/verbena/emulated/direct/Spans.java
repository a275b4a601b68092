// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.KeyEntry;
import io.verbena.emulated.hca.ReceiveRing;
import io.verbena.verbs.ScatterGatherList;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The buffers of one work request that has several, looked up and checked. Reusable; {@link #clear}
 * drops the references to the memory.
 */
final class Spans {
  private static final int PAGE = 4096;

  private ByteBuffer[] memory = new ByteBuffer[1];
  private int[] offsets = new int[1];
  private int[] lengths = new int[1];
  private int count;

  void clear() {
    Arrays.fill(memory, 0, count, null);
    count = 0;
  }

  void add(ByteBuffer buffer, int offset, int length) {
    if (count == memory.length) {
      memory = Arrays.copyOf(memory, 2 * count);
      offsets = Arrays.copyOf(offsets, 2 * count);
      lengths = Arrays.copyOf(lengths, 2 * count);
    }
    memory[count] = buffer;
    offsets[count] = offset;
    lengths[count++] = length;
  }

  /** Adds a request's buffers; returns false if one of them may not be used with {@code access}. */
  boolean add(ScatterGatherList buffers, EmulatedQueuePair pair, int access) {
    for (int i = 0, n = buffers.size(); i < n; i++) {
      if (!add(buffers.address(i), buffers.length(i), buffers.lkey(i), pair, access)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Adds the part of the next receive that a message of {@code bytes} bytes needs; returns false if
   * a buffer may not be used.
   */
  boolean add(ReceiveRing receives, int bytes, EmulatedQueuePair pair) {
    int left = bytes;
    for (int i = 0; left > 0; i++) {
      int length = Math.min(left, receives.length(i));
      if (length > 0) {
        long address = receives.address(i);
        KeyEntry key = pair.openReceive(receives.lkey(i), address, length);
        if (key == null) {
          return false;
        }
        add(key.memory(), key.offset(address), length);
        left -= length;
      }
    }
    return true;
  }

  private boolean add(long address, int length, int lkey, EmulatedQueuePair pair, int access) {
    if (length == 0) {
      return true;
    }
    KeyEntry key = pair.open(lkey, address, length, access);
    if (key == null) {
      return false;
    }
    add(key.memory(), key.offset(address), length);
    return true;
  }

  /** Returns whether all buffers can be read at this moment. Used to find out why a copy failed. */
  boolean isReadable() {
    for (int i = 0; i < count; i++) {
      if (!isReadable(memory[i], offsets[i], lengths[i])) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns whether these bytes can be read at this moment, by reading from each of their pages.
   */
  static boolean isReadable(ByteBuffer memory, int offset, int length) {
    try {
      for (long at = 0; at < length; at += PAGE) {
        byte unused = memory.get(offset + (int) at);
      }
      if (length > 0) {
        byte unused = memory.get(offset + length - 1);
      }
      return true;
    } catch (RuntimeException | Error e) {
      return false;
    }
  }

  /** Writes the answer of an atomic, 8 bytes, in native order, as the HCA does. */
  void writeLong(long value) {
    if (lengths[0] == Long.BYTES) {
      memory[0].putLong(offsets[0], value);
      return;
    }
    ByteBuffer answer = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
    answer.putLong(0, value);
    int done = 0;
    for (int i = 0; i < count; i++) {
      memory[i].put(offsets[i], answer, done, lengths[i]);
      done += lengths[i];
    }
  }

  /** Copies {@code bytes} bytes; both ends have at least as many. */
  static void copy(Spans from, Spans to, int bytes) {
    copy(from, to, 0, bytes);
  }

  /** Copies {@code bytes} bytes from {@code skip} on; both ends have at least as many. */
  static void copy(Spans from, Spans to, int skip, int bytes) {
    int left = bytes;
    int source = 0;
    int sourceDone = skip;
    int target = 0;
    int targetDone = skip;
    if (bytes > 0) {
      while (sourceDone >= from.lengths[source]) {
        sourceDone -= from.lengths[source++];
      }
      while (targetDone >= to.lengths[target]) {
        targetDone -= to.lengths[target++];
      }
    }
    while (left > 0) {
      int length =
          Math.min(
              left, Math.min(from.lengths[source] - sourceDone, to.lengths[target] - targetDone));
      to.memory[target].put(
          to.offsets[target] + targetDone,
          from.memory[source],
          from.offsets[source] + sourceDone,
          length);
      left -= length;
      sourceDone += length;
      targetDone += length;
      if (sourceDone == from.lengths[source]) {
        source++;
        sourceDone = 0;
      }
      if (targetDone == to.lengths[target]) {
        target++;
        targetDone = 0;
      }
    }
  }
}
