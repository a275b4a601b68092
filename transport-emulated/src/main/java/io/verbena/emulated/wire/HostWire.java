// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.verbs.Gid;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A wire with one port, that of the host which it is opened for, from where others are other
 * processes. For the driver of the engines; {@link #await} may be called while another drives, and
 * {@link #wakeup} by any thread.
 */
public interface HostWire extends Wire, AutoCloseable {

  /**
   * Takes packets that have come and hands them to the port.
   *
   * @param most how many at the most
   * @return how many there were
   */
  int receive(int most);

  /**
   * Sleeps until a packet comes, there is room again where there was none, or {@link #wakeup} is
   * called; in whole milliseconds.
   *
   * @param nanos how long at the most; less than a millisecond only looks
   */
  void await(long nanos);

  /** While another drives: sees to it that {@link #receive} finds what only the kernel tells. */
  default void look() {}

  /** Ends a sleep, or the next one. */
  void wakeup();

  /** How many packets with so much payload are kept on the way to one peer. */
  int bufferedPackets(int payload);

  /**
   * Hears that nobody takes packets for an HCA; null if that cannot be heard.
   *
   * @param flow whose packets are refused
   */
  @Nullable Refusals refusals(int flow, Gid of);

  /** Tells of each peer that is gone for good, if this wire hears of that. */
  default void departures(Consumer<Gid> listener) {}

  @Override
  void close();
}
