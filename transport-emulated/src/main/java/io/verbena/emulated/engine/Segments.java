// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Frame;
import io.verbena.verbs.ScatterGatherList;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;

/** Moves the bytes of one packet between it and the buffers of a request or receive. */
public final class Segments {
  private Segments() {}

  static long length(SendWorkRequest request) {
    ByteBuffer inline = request.inlineData();
    return inline == null ? request.buffers().totalLength() : inline.remaining();
  }

  static AccessResult check(Host host, ScatterGatherList buffers, int access) {
    for (int i = 0, n = buffers.size(); i < n; i++) {
      int length = buffers.length(i);
      if (length > 0) {
        AccessResult outcome = host.checkLocal(buffers.lkey(i), buffers.address(i), length, access);
        if (outcome != AccessResult.GRANTED) {
          return outcome;
        }
      }
    }
    return AccessResult.GRANTED;
  }

  /** Fills a packet with {@code length} bytes of a request, from {@code offset} on. */
  static AccessResult gather(
      Host host, SendWorkRequest request, long offset, Frame frame, int length) {
    ByteBuffer bytes = frame.bytes();
    int at = frame.payloadOffset();
    frame.payloadLength(length);
    ByteBuffer inline = request.inlineData();
    if (inline != null) {
      bytes.put(at, inline, inline.position() + (int) offset, length);
      return AccessResult.GRANTED;
    }
    ScatterGatherList buffers = request.buffers();
    long skip = offset;
    int left = length;
    for (int i = 0; left > 0; i++) {
      int there = buffers.length(i);
      if (skip >= there) {
        skip -= there;
        continue;
      }
      int part = (int) Math.min(left, there - skip);
      AccessResult outcome =
          host.readLocal(buffers.lkey(i), buffers.address(i) + skip, bytes, at, part);
      if (outcome != AccessResult.GRANTED) {
        return outcome;
      }
      at += part;
      left -= part;
      skip = 0;
    }
    return AccessResult.GRANTED;
  }

  /**
   * Copies bytes into buffers that have room for them, from {@code offset} on.
   *
   * @param at the index of the bytes in {@code bytes}
   */
  public static AccessResult scatter(
      Host host, ScatterGatherList buffers, long offset, ByteBuffer bytes, int at, int length) {
    long skip = offset;
    int from = at;
    int left = length;
    for (int i = 0; left > 0; i++) {
      int there = buffers.length(i);
      if (skip >= there) {
        skip -= there;
        continue;
      }
      int part = (int) Math.min(left, there - skip);
      AccessResult outcome =
          host.writeLocal(buffers.lkey(i), buffers.address(i) + skip, bytes, from, part);
      if (outcome != AccessResult.GRANTED) {
        return outcome;
      }
      from += part;
      left -= part;
      skip = 0;
    }
    return AccessResult.GRANTED;
  }
}
