// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.event;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * Records the events of one connection in Flight Recorder. Not thread-safe: only the connection's
 * loop calls it.
 *
 * <p>While no recording runs, a call costs the check of a field.
 */
public final class ConnectionRecorder {
  private final String adapter;
  private final String peer;
  private final int queuePair;

  private @Nullable CreditStallEvent stall;
  private boolean over;

  /**
   * A recorder for one connection.
   *
   * @param adapter the kind of transport, in a word: {@code reactor}, {@code netty}
   * @param peer human-readable peer address
   * @param queuePair the number of its queue pair
   */
  public ConnectionRecorder(String adapter, String peer, int queuePair) {
    this.adapter = requireNonNull(adapter, "adapter");
    this.peer = requireNonNull(peer, "peer");
    this.queuePair = queuePair;
  }

  /** Records that the connection is established. */
  public void opened() {
    ConnectionOpenedEvent event = new ConnectionOpenedEvent();
    if (event.shouldCommit()) {
      fill(event);
      event.commit();
    }
  }

  /**
   * Records that the connection has ended without a failure. Only the first call of this and {@link
   * #failed} counts.
   */
  public void closed() {
    if (over) {
      return;
    }
    over = true;
    ConnectionClosedEvent event = new ConnectionClosedEvent();
    if (event.shouldCommit()) {
      fill(event);
      event.commit();
    }
  }

  /**
   * Records that the connection has failed. Only the first call of this and {@link #closed} counts.
   *
   * @param why the error
   */
  public void failed(Throwable why) {
    if (over) {
      return;
    }
    over = true;
    ConnectionFailedEvent event = new ConnectionFailedEvent();
    if (event.shouldCommit()) {
      fill(event);
      event.reason = why.toString();
      event.commit();
    }
  }

  /** Begins a wait of sends for the peer's credits. */
  public void creditsRanOut() {
    CreditStallEvent event = new CreditStallEvent();
    if (event.isEnabled()) {
      event.begin();
      stall = event;
    }
  }

  /** Ends the wait for credits: they have come, or no send waits any more. */
  public void creditsCame() {
    CreditStallEvent event = stall;
    if (event != null) {
      stall = null;
      if (event.shouldCommit()) {
        fill(event);
        event.commit();
      }
    }
  }

  private void fill(FlightRecorderEvent event) {
    event.adapter = adapter;
    event.peer = peer;
    event.queuePair = queuePair;
  }
}
