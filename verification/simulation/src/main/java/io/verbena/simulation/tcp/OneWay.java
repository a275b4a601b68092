// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.tcp;

import io.verbena.emulated.wire.FaultDraw;
import java.nio.ByteBuffer;

/**
 * The bytes of one direction of a connection that are written and not yet read: in the send buffer,
 * on the wire, or in the receive buffer. All three together hold a limited number of bytes.
 */
final class OneWay {
  /** The limits of a read or write in bytes in half of the cases; the others have no limit. */
  private static final int[] PIECES = {8, 64, 1024, 4096};

  final int source;
  final int destination;
  private final byte[] ring;
  private final long salt;
  private long choices;
  private long written;
  private long arrived;
  private long read;
  private boolean ended;
  private boolean endArrived;
  private boolean cutOff;

  /** The time at which the latest bytes arrive. */
  private long lastArrival;

  /**
   * Creates a direction without bytes.
   *
   * @param source number of the sending port
   * @param destination number of the receiving port
   * @param capacity the most bytes that it holds
   * @param salt the seed of its random choices
   */
  OneWay(int source, int destination, int capacity, long salt) {
    this.source = source;
    this.destination = destination;
    this.salt = salt;
    ring = new byte[capacity];
  }

  /** Returns a random number from 0 to {@code bound - 1}. */
  int choose(int bound) {
    long chance = FaultDraw.mix(salt + choices++ * 0x9E3779B97F4A7C15L);
    return (int) Long.remainderUnsigned(chance, bound);
  }

  private int piece() {
    int kind = choose(2 * PIECES.length);
    return kind < PIECES.length ? 1 + choose(PIECES[kind]) : Integer.MAX_VALUE;
  }

  boolean isEmpty() {
    return written == 0;
  }

  /** Returns how many bytes a write may add. */
  int room() {
    return (int) (ring.length - (written - read));
  }

  /** Returns how many bytes a read may take. */
  int waiting() {
    return (int) (arrived - read);
  }

  /**
   * Adds a random number of bytes, as a socket may take fewer than offered.
   *
   * @return the number of bytes added
   */
  int write(ByteBuffer[] from, int offset, int count) {
    // A socket that nothing was written to has room for a frame of MPA.
    int most = Math.min(room(), isEmpty() ? Integer.MAX_VALUE : piece());
    int done = 0;
    for (int i = offset; i < offset + count; i++) {
      while (done < most && from[i].hasRemaining()) {
        int at = (int) (written % ring.length);
        int length = Math.min(Math.min(from[i].remaining(), most - done), ring.length - at);
        from[i].get(ring, at, length);
        written += length;
        done += length;
      }
    }
    return done;
  }

  /**
   * Reads a random number of bytes, as a socket may return fewer than have arrived.
   *
   * @return the number of bytes read
   */
  int read(ByteBuffer[] into, int offset, int count) {
    int most = Math.min(waiting(), piece());
    int done = 0;
    for (int i = offset; i < offset + count; i++) {
      while (done < most && into[i].hasRemaining()) {
        int at = (int) (read % ring.length);
        int length = Math.min(Math.min(into[i].remaining(), most - done), ring.length - at);
        into[i].put(ring, at, length);
        read += length;
        done += length;
      }
    }
    return done;
  }

  /** Returns the arrival time of bytes sent now: no earlier than that of bytes sent before. */
  long arrival(long earliest) {
    lastArrival = Math.max(lastArrival, earliest);
    return lastArrival;
  }

  /** Called when more bytes have arrived. */
  void arrived(int bytes) {
    arrived += bytes;
  }

  /** Drops the bytes that have arrived and were not read, as a reset may. */
  void dropUnread() {
    read = arrived;
  }

  /** Ends the writing. Returns false if it had ended before. */
  boolean end() {
    boolean first = !ended;
    ended = true;
    return first;
  }

  boolean isEnded() {
    return ended;
  }

  /** Drops all bytes that are written from now on. */
  void cutOff() {
    cutOff = true;
  }

  boolean isCutOff() {
    return cutOff;
  }

  /** Called when the end has arrived at the reader. */
  void endArrived() {
    endArrived = true;
  }

  boolean hasEndArrived() {
    return endArrived;
  }
}
