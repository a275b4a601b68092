// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Makes and ends connections ({@code rdma_cm(7)}), and reports what happens in events. Its event
 * queue is bounded: a connect request that does not fit the listener's backlog is left without an
 * answer, and asked again until it fits or its time is over, as in the kernel.
 */
public interface ConnectionManager extends AutoCloseable {

  /** Returns its device. */
  Device device();

  /**
   * Listens on an address.
   *
   * @param backlog connect requests that may wait for an answer
   * @throws VerbsException {@code ADDRESS_IN_USE}; {@code INVALID} for an address or a backlog that
   *     it does not take
   */
  default ConnectionListener listen(URI address, int backlog) {
    return listen(PortSpace.TCP, address, backlog);
  }

  /**
   * Listens on an address.
   *
   * @param space whose port it is
   * @param backlog as above
   * @throws VerbsException as above; {@code NOT_SUPPORTED} for {@link PortSpace#UDP} without {@link
   *     Capability#UNRELIABLE_DATAGRAM}
   */
  ConnectionListener listen(PortSpace space, URI address, int backlog);

  /**
   * Finds the way to a peer; {@link ConnectionEvent.Type#ADDR_RESOLVED} or {@link
   * ConnectionEvent.Type#ADDR_ERROR} follows.
   *
   * @param timeoutNanos how long that may take
   * @throws VerbsException {@code INVALID} for an address that it does not take
   */
  default ConnectionIdentifier resolve(URI address, long timeoutNanos) {
    return resolve(PortSpace.TCP, address, timeoutNanos);
  }

  /**
   * Finds the way to a peer.
   *
   * @param space whose port it is
   * @param timeoutNanos as above
   * @throws VerbsException as above; {@code NOT_SUPPORTED} for {@link PortSpace#UDP} without {@link
   *     Capability#UNRELIABLE_DATAGRAM}
   */
  ConnectionIdentifier resolve(PortSpace space, URI address, long timeoutNanos);

  /**
   * Waits for the next event.
   *
   * @param timeoutNanos how long to wait at the most; 0 to look only
   * @return the event, or null when the time is over or the manager was closed
   * @throws VerbsException {@code IO} if none is left and none will come, as the device has failed
   */
  @Nullable ConnectionEvent await(long timeoutNanos) throws InterruptedException;

  /**
   * Closes it and lets a waiting thread return.
   *
   * @throws VerbsException {@code BUSY} while listeners or identifiers are open
   */
  @Override
  void close();
}
