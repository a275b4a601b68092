// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.verbena.AcceptDecision;
import io.verbena.ConnectRequest;
import io.verbena.RdmaConnectException;
import io.verbena.RejectReason;
import io.verbena.core.cm.ConnectionSlots;
import io.verbena.core.cm.ProgramPrivateData;
import io.verbena.netty.wire.Handshake;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The connect requests of a server channel. Requests beyond its limits are refused, its accept hook
 * decides on the others, and admitted ones wait until the channel reads. On the channel's event
 * loop, except for {@link #requested}.
 */
final class Admission {
  private final RdmaServerSocketChannel channel;
  private final RdmaServerSocketChannelConfig config;
  private final ConnectionSlots slots = new ConnectionSlots();

  /** The requests that the hook is deciding on. */
  private final Set<PendingAccept> undecided = new HashSet<>();

  private final ConcurrentLinkedQueue<PendingAccept> requests = new ConcurrentLinkedQueue<>();

  /** The number of requests that wait for the hook, or to be read. */
  private final AtomicInteger waiting = new AtomicInteger();

  Admission(RdmaServerSocketChannel channel, RdmaServerSocketChannelConfig config) {
    this.channel = channel;
    this.config = config;
  }

  /** Returns the number of connections that count for {@link RdmaChannelOption#MAX_CONNECTIONS}. */
  int connectionsTaken() {
    return slots.taken();
  }

  /**
   * Handles a connect request, on the dispatcher's thread.
   *
   * @param at the HCA of the listener
   */
  void requested(ConnectionEvent request, SharedHca at) {
    ByteBuffer data = ProgramPrivateData.read(request.privateData(), Handshake.LENGTH);
    if (Handshake.decode(request.privateData()) == null || data == null) {
      // A request of another protocol makes no channel and no line in a log.
      PendingAccept.close(request.identifier(), at);
      return;
    }
    if (waiting.incrementAndGet() > config.getBacklog()) {
      waiting.decrementAndGet();
      PendingAccept.close(request.identifier(), at);
      return;
    }
    RejectReason full =
        slots.take(
            request.identifier().remoteAddress(),
            config.maxConnections(),
            config.maxConnectionsPerPeer());
    if (full != null) {
      waiting.decrementAndGet();
      PendingAccept.refuse(request.identifier(), full, at);
      return;
    }
    PendingAccept pending = new PendingAccept(request, slots, at);
    RdmaAcceptHook hook = config.acceptHook();
    try {
      if (hook == null) {
        requests.add(pending);
        channel.eventLoop().execute(channel::readRequests);
      } else {
        channel.eventLoop().execute(() -> ask(hook, data, pending));
      }
    } catch (RejectedExecutionException e) {
      if (hook != null || requests.remove(pending)) {
        drop(pending);
      }
    }
  }

  private void ask(RdmaAcceptHook hook, ByteBuffer data, PendingAccept pending) {
    if (!channel.isOpen()) {
      drop(pending);
      return;
    }
    undecided.add(pending);
    int millis = config.getConnectTimeoutMillis();
    ConnectionIdentifier identifier = pending.event().identifier();
    try {
      Future<AcceptDecision> answer =
          requireNonNull(
              hook.decide(new ConnectRequest(identifier.peer(), identifier.remoteAddress(), data)),
              "the hook returned null");
      if (!undecided.contains(pending)) {
        // The hook has closed this channel.
        answer.cancel(false);
        return;
      }
      pending.waitFor(
          answer,
          millis <= 0
              ? null
              : channel
                  .eventLoop()
                  .schedule(
                      () ->
                          hookFailed(
                              pending, new TimeoutException("no answer within " + millis + " ms")),
                      millis,
                      TimeUnit.MILLISECONDS));
      answer.addListener(done -> answered(pending, answer));
    } catch (Throwable e) {
      hookFailed(pending, e);
    }
  }

  /** Handles the hook's answer, on any thread. */
  private void answered(PendingAccept pending, Future<AcceptDecision> answer) {
    EventLoop loop = channel.eventLoop();
    if (loop.inEventLoop()) {
      decided(pending, answer);
      return;
    }
    try {
      loop.execute(() -> decided(pending, answer));
    } catch (RejectedExecutionException e) {
      // The loop has ended, and this channel has dropped the request before.
      return;
    }
  }

  private void decided(PendingAccept pending, Future<AcceptDecision> answer) {
    AcceptDecision decision = answer.isSuccess() ? answer.getNow() : null;
    if (decision == null) {
      Throwable cause = answer.cause();
      hookFailed(
          pending, cause == null ? new NullPointerException("the hook answered null") : cause);
    } else if (undecided.remove(pending)) {
      pending.stopWaiting();
      RejectReason reason = decision.rejection();
      if (reason == null) {
        requests.add(pending);
        channel.readRequests();
      } else {
        waiting.decrementAndGet();
        pending.refuse(reason);
      }
    }
  }

  private void hookFailed(PendingAccept pending, Throwable why) {
    if (undecided.remove(pending)) {
      pending.stopWaiting();
      waiting.decrementAndGet();
      pending.refuse(new RejectReason(RejectReason.HOOK_FAILED, "the server's accept hook failed"));
      // Not as an exception: after one, Netty's acceptor stops reading for a second.
      channel
          .pipeline()
          .fireUserEventTriggered(
              new RdmaConnectException(
                  "accept",
                  pending.event().identifier().peer(),
                  "the accept hook failed: " + why,
                  why));
    }
  }

  /** Returns whether an admitted request waits to be read. */
  boolean isWaiting() {
    return !requests.isEmpty();
  }

  /** Removes and returns the next admitted request; null if there is none. */
  @Nullable PendingAccept poll() {
    PendingAccept next = requests.poll();
    if (next != null) {
      waiting.decrementAndGet();
    }
    return next;
  }

  /** Drops all requests, because the channel has closed. */
  void close() {
    for (PendingAccept each : List.copyOf(undecided)) {
      undecided.remove(each);
      drop(each);
      each.stopWaiting();
    }
    for (PendingAccept next = requests.poll(); next != null; next = requests.poll()) {
      drop(next);
    }
  }

  private void drop(PendingAccept request) {
    waiting.decrementAndGet();
    request.drop();
  }
}
