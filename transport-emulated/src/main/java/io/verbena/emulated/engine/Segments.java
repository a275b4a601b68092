// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.ScatterGatherList;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;

/** Copies the bytes of one packet from the buffers of a request or to those of a receive. */
public final class Segments {
  /**
   * Fewer bytes of a request are copied into packets instead of referred to. Programs refill the
   * buffers of small messages each time, and would then wait for each cache line that the receiver
   * has read.
   */
  private static final int LEAST_OF_REQUEST = 8192;

  /** Fewer bytes of an answer are copied, since that is faster than a reference. */
  private static final int LEAST_OF_ANSWER = 2048;

  private Segments() {}

  static long length(SendWorkRequest request) {
    ByteBuffer inline = request.inlineData();
    return inline == null ? request.buffers().totalLength() : inline.remaining();
  }

  static AccessResult check(EngineHost host, ScatterGatherList buffers, int access) {
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

  /**
   * Refers to bytes of a request from {@code offset} on: to all that are left, or to as many whole
   * packets as are contiguous.
   *
   * @param packet the bytes of a packet
   * @return the number of bytes; 0 if they are few, or must be copied
   */
  static int refer(
      EngineHost host, SendWorkRequest request, long offset, int packet, PayloadReference to) {
    if (request.inlineData() != null) {
      return 0;
    }
    ScatterGatherList buffers = request.buffers();
    long left = buffers.totalLength() - offset;
    if (left < LEAST_OF_REQUEST) {
      return 0;
    }
    long skip = offset;
    int i = 0;
    while (skip >= buffers.length(i)) {
      skip -= buffers.length(i++);
    }
    int length = referable(left, buffers.length(i) - skip, packet, LEAST_OF_REQUEST);
    return length > 0 && host.referLocal(buffers.lkey(i), buffers.address(i) + skip, length, to)
        ? length
        : 0;
  }

  /**
   * Returns how many of the {@code left} bytes of an answer a packet may refer to.
   *
   * @param packet the bytes of a packet
   */
  static int referable(long left, int packet) {
    return referable(left, left, packet, LEAST_OF_ANSWER);
  }

  /** Returns all bytes that are left, or whole packets of one piece; 0 if they are few. */
  private static int referable(long left, long piece, int packet, int least) {
    int most = (int) Math.min(Math.min(left, piece), RocePacket.MAX_REFERENCE);
    int length = most == left ? most : most - most % packet;
    return length < least ? 0 : length;
  }

  /** Fills a packet with {@code length} bytes of a request, from {@code offset} on. */
  static AccessResult gather(
      EngineHost host, SendWorkRequest request, long offset, RocePacket packet, int length) {
    ByteBuffer bytes = packet.bytes();
    int at = packet.payloadOffset();
    packet.payloadLength(length);
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
   * Copies bytes into the buffers of a request, which have room for them, from {@code offset} on.
   *
   * @param at the index of the bytes in {@code bytes}
   */
  public static AccessResult scatter(
      EngineHost host,
      ScatterGatherList buffers,
      long offset,
      ByteBuffer bytes,
      int at,
      int length) {
    return scatter(host, /* received= */ false, buffers, offset, bytes, at, length);
  }

  /** Copies bytes into the buffers of a receive, as {@link #scatter} does. */
  static AccessResult scatterReceive(
      EngineHost host,
      ScatterGatherList buffers,
      long offset,
      ByteBuffer bytes,
      int at,
      int length) {
    return scatter(host, /* received= */ true, buffers, offset, bytes, at, length);
  }

  private static AccessResult scatter(
      EngineHost host,
      boolean received,
      ScatterGatherList buffers,
      long offset,
      ByteBuffer bytes,
      int at,
      int length) {
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
      int lkey = buffers.lkey(i);
      long address = buffers.address(i) + skip;
      AccessResult outcome =
          received
              ? host.writeReceive(lkey, address, bytes, from, part)
              : host.writeLocal(lkey, address, bytes, from, part);
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
