// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.PeerUnreachableException;
import io.verbena.RdmaException;
import io.verbena.core.loop.SilentRounds;
import io.verbena.meters.HcaMeter;
import io.verbena.reactor.queue.RequestOwner;
import java.time.Duration;

/**
 * Probes the HCA of a peer that has been silent. The HCA answers a {@link
 * io.verbena.core.loop.KeepAliveProbe} without the peer's program. Without an answer the probe
 * fails after the retries of the queue pair, which ends the connection as any failed request does.
 * The deadline of operations applies where it is shorter, as with Soft-RoCE, which takes 7 retries
 * for endless retries, and with iWARP, whose TCP retries for minutes. Only on the loop.
 */
final class KeepAlive implements RequestOwner {
  private final ConnectionQueues queues;
  private final GracefulClose close;
  private final HcaMeter meter;
  private final SilentRounds silence = new SilentRounds();
  private boolean dead;

  KeepAlive(ConnectionQueues queues, GracefulClose close, HcaMeter meter) {
    this.queues = queues;
    this.close = close;
    this.meter = meter;
  }

  /**
   * Ends a round of keep-alive: probes the peer if it has been silent, unless a request in flight
   * or a close has a deadline anyway.
   *
   * @return whether a probe was posted
   */
  boolean check() {
    if (!silence.end(queues.completed()) || !queues.sends().isEmpty() || close.isUnderway()) {
      return false;
    }
    queues.ask(this);
    meter.peerAsked();
    return true;
  }

  @Override
  public String operation() {
    return "keep-alive";
  }

  @Override
  public RdmaException overdueError(String peer, Duration limit) {
    return new PeerUnreachableException(
        operation(), peer, null, "the peer did not answer within " + limit, null);
  }

  @Override
  public void overdue(RdmaException error) {
    failed(error);
  }

  @Override
  public void succeeded() {
    // The count of completions shows that the peer is alive.
  }

  @Override
  public void failed(RdmaException error) {
    // The connection ends with this error.
    if (!dead && error instanceof PeerUnreachableException) {
      dead = true;
      meter.peerFoundDead();
    }
  }
}
