// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.roce.SharedPlace;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A wire with one port, that of the local host; all other ports are in other processes. For the
 * driver of the engines; {@link #await} may be called while another thread drives, and {@link
 * #wakeup} by any thread.
 */
public interface HostWire extends Wire, AutoCloseable {

  /**
   * Takes packets that have come and hands them to the port.
   *
   * @param most the most packets to take
   * @return the number of packets taken
   */
  int receive(int most);

  /**
   * Sleeps until a packet comes, there is room again where there was none, or {@link #wakeup} is
   * called; in whole milliseconds.
   *
   * @param nanos the longest time to sleep; less than a millisecond only looks
   */
  void await(long nanos);

  /**
   * Called while another thread drives: makes sure that {@link #receive} finds what only the kernel
   * knows.
   */
  default void look() {}

  /** Ends a sleep, or the next one. */
  void wakeup();

  /** Returns whether packets that have left are never lost. By default they may be. */
  default boolean isLossless() {
    return false;
  }

  /** Returns the number of packets with this payload that are buffered on the way to one peer. */
  int bufferedPackets(int payload);

  /**
   * Returns a counter of reports that nobody takes packets for an HCA; null if this wire gets no
   * such reports.
   *
   * @param flow the flow whose packets are counted
   */
  @Nullable UnreachableReports unreachableReports(int flow, Gid of);

  /** Calls a listener for each peer that is gone for good, if this wire learns of that. */
  default void departures(Consumer<Gid> listener) {}

  /**
   * Allocates zeroed memory for programs, on any thread; on a wire whose receivers can map it, such
   * memory.
   */
  default ByteBuffer allocate(int length) {
    return ByteBuffer.allocateDirect(length);
  }

  /** Returns where a direct buffer lies in memory that receivers can map, or null; any thread. */
  default @Nullable SharedPlace placeOf(ByteBuffer memory) {
    return null;
  }

  @Override
  void close();
}
