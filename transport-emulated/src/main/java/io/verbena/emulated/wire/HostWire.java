// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.mapped.SharedPlace;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A wire with one port, that of the local host; all other ports are in other processes. Called only
 * by the driver of the engines, except {@link #await}, which may be called while another thread
 * drives, and {@link #wakeup}, which any thread may call.
 */
public interface HostWire extends Wire, AutoCloseable {

  /**
   * Takes packets that have arrived and passes them to the port.
   *
   * @param most the most packets to take
   * @return the number of packets taken
   */
  int receive(int most);

  /**
   * Sleeps until a packet arrives, a full wire has room again, or {@link #wakeup} is called. The
   * resolution is a millisecond.
   *
   * @param nanos the longest time to sleep; with less than a millisecond, this polls without
   *     sleeping
   */
  void await(long nanos);

  /**
   * Makes sure that {@link #receive} finds packets that only the kernel knows of. Called while
   * another thread drives.
   */
  default void look() {}

  /** Ends the current or the next {@link #await}. */
  void wakeup();

  /** Returns whether sent packets are never lost; false by default. */
  default boolean isLossless() {
    return false;
  }

  /**
   * Returns the number of packets with {@code payload} bytes of payload that fit the buffers on the
   * way to one peer.
   */
  int bufferedPackets(int payload);

  /**
   * Returns a counter of reports that an HCA's host takes no packets for it; null if this wire gets
   * no such reports.
   *
   * @param flow the flow whose packets cause the reports
   */
  @Nullable UnreachableReports unreachableReports(int flow, Gid of);

  /**
   * Calls a listener for each peer that is gone for good; never if this wire cannot detect that.
   */
  default void departures(Consumer<Gid> listener) {}

  /**
   * Allocates zeroed direct memory for programs, which receivers can map if this wire supports
   * that. Called on any thread.
   */
  default ByteBuffer allocate(int length) {
    return ByteBuffer.allocateDirect(length);
  }

  /**
   * Returns the place of a direct buffer in memory that receivers can map, or null. Called on any
   * thread.
   */
  default @Nullable SharedPlace placeOf(ByteBuffer memory) {
    return null;
  }

  @Override
  void close();
}
