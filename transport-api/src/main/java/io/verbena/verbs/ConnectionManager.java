// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Makes and ends connections ({@code rdma_cm(7)}), and reports their events. The event queue is
 * bounded: a connect request beyond the listener's backlog gets no answer, and the client repeats
 * it until it fits or its time is over, as in the kernel.
 */
public interface ConnectionManager extends AutoCloseable {

  /** Returns the device of this manager. */
  Device device();

  /**
   * Listens on an address.
   *
   * @param backlog connect requests that may wait for an answer
   * @throws VerbsException {@code ADDRESS_IN_USE}; {@code INVALID} for an address or a backlog that
   *     the provider does not support
   */
  default ConnectionListener listen(URI address, int backlog) {
    return listen(PortSpace.TCP, address, backlog);
  }

  /**
   * Listens on an address.
   *
   * @param space the port space of the address
   * @param backlog as above
   * @throws VerbsException as above; {@code NOT_SUPPORTED} for {@link PortSpace#UDP} without {@link
   *     Capability#UNRELIABLE_DATAGRAM}
   */
  ConnectionListener listen(PortSpace space, URI address, int backlog);

  /**
   * Resolves the address of a peer; {@link ConnectionEvent.Type#ADDR_RESOLVED} or {@link
   * ConnectionEvent.Type#ADDR_ERROR} follows.
   *
   * @param timeoutNanos the time for that, in nanoseconds
   * @throws VerbsException {@code INVALID} for an address that the provider does not support
   */
  default ConnectionIdentifier resolve(URI address, long timeoutNanos) {
    return resolve(PortSpace.TCP, address, timeoutNanos);
  }

  /**
   * Resolves the address of a peer.
   *
   * @param space the port space of the address
   * @param timeoutNanos as above
   * @throws VerbsException as above; {@code NOT_SUPPORTED} for {@link PortSpace#UDP} without {@link
   *     Capability#UNRELIABLE_DATAGRAM}
   */
  ConnectionIdentifier resolve(PortSpace space, URI address, long timeoutNanos);

  /**
   * Waits for the next event.
   *
   * @param timeoutNanos the longest wait, in nanoseconds; 0 returns at once
   * @return the event, or null when the time is over or the manager was closed
   * @throws VerbsException {@code IO} if no event is left and none will come, because the device
   *     has failed
   */
  @Nullable ConnectionEvent await(long timeoutNanos) throws InterruptedException;

  /**
   * Closes the manager; a thread in {@link #await} returns.
   *
   * @throws VerbsException {@code BUSY} while listeners or identifiers are open
   */
  @Override
  void close();
}
