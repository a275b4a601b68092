// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;

import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.util.concurrent.Future;
import io.verbena.RdmaConnectException;
import io.verbena.RejectReason;
import io.verbena.core.cm.ConnectionSteps;
import io.verbena.core.cm.EventTarget;
import io.verbena.core.cm.ProgramPrivateData;
import io.verbena.netty.wire.Handshake;
import io.verbena.netty.wire.Rejection;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sets up the connection of a channel. A setup ends once, and then completes its promise:
 *
 * <pre>{@code
 * connect: resolving --ADDR_RESOLVED--> connecting --ESTABLISHED--+--> over, the channel has the stream
 * accept:  accepting -----------------------------ESTABLISHED-----+
 *          each --rejected, unreachable, timed out, closed-----------> over, all is closed
 * }</pre>
 *
 * <p>On the event loop's thread only.
 */
final class ConnectionSetup extends ConnectionSteps {
  /** The channel for which the connection is set up. */
  interface Owner extends EventTarget {
    /** Returns the object that the stream calls back. */
    Stream.Owner streamOwner();

    /** Adds a step that runs when the channel closes. */
    void atClose(Runnable step);

    /** Returns the program's private data for the connect request. */
    ByteBuffer privateData();

    /** Returns whether a requested connection is still wanted: its listener is still open. */
    boolean isWanted();

    /**
     * Called when the connection is established, before the promise succeeds.
     *
     * @param local the local address; null if it is that of the listener
     */
    void established(Stream stream, @Nullable InetSocketAddress local, ChannelPromise promise);

    /** Called when the setup has failed, after the promise is completed. */
    void failed();
  }

  private final RdmaIoHandler handler;
  private final Owner owner;
  private final ChannelPromise promise;
  private final int timeoutMillis;
  private final @Nullable ConnectionEvent request;
  private final ConnectionIdentifier identifier;
  private final Object peer;
  private final @Nullable URI listener;
  private int port;
  private @Nullable Stream stream;
  private @Nullable Future<?> timer;
  private boolean over;

  /**
   * Begins a connect.
   *
   * @param to the peer
   * @param port the local port that the channel has bound, or 0
   * @param timeoutMillis the limit on the whole setup; 0 for no limit on this side
   * @throws VerbsException if the device cannot begin the connect; the promise is not completed
   *     then
   * @throws BindException if another channel has the port
   */
  ConnectionSetup(
      RdmaIoHandler handler,
      Owner owner,
      ChannelPromise promise,
      int timeoutMillis,
      InetSocketAddress to,
      int port)
      throws BindException {
    this.handler = handler;
    this.owner = owner;
    this.promise = promise;
    this.timeoutMillis = timeoutMillis;
    this.port = port;
    request = null;
    peer = to;
    listener = handler.hca().uri(to);
    LocalPorts.Taken bound = port == 0 ? null : take(handler.hca().local(0), port);
    if (port != 0 && bound == null) {
      throw new BindException("Address already in use: " + handler.hca().local(port) + " to " + to);
    }
    try {
      identifier = handler.hca().dispatcher().resolve(listener, timeoutNanos(), owner);
    } catch (VerbsException e) {
      if (bound != null) {
        bound.release();
      }
      throw e;
    }
    releaseWithChannel(bound);
    startTimer(to + ": " + ConnectionEvent.NO_ANSWER);
  }

  /** Begins an accept; {@link #accept} answers the connect request. */
  ConnectionSetup(
      RdmaIoHandler handler,
      Owner owner,
      ChannelPromise promise,
      int timeoutMillis,
      ConnectionEvent request) {
    this.handler = handler;
    this.owner = owner;
    this.promise = promise;
    this.timeoutMillis = timeoutMillis;
    this.request = request;
    port = 0;
    listener = null;
    identifier = request.identifier();
    peer = String.valueOf(identifier.peer());
  }

  /** Accepts the request. The promise succeeds when the connection is established. */
  void accept() {
    try {
      Stream made = new Stream(handler, identifier, owner.streamOwner());
      stream = made;
      identifier.accept(ConnectionParameters.of(made.handshake(port).encode()));
      startTimer("not established");
    } catch (RuntimeException | Error e) {
      end();
      handler.hca().meter().failed("accept", null, e);
      promise.setFailure(new IOException("cannot accept " + peer, e));
    }
  }

  private void startTimer(String what) {
    if (timeoutMillis > 0) {
      timer =
          handler
              .executor()
              .schedule(
                  () ->
                      fail(
                          new ConnectTimeoutException(
                              "connection timed out after " + timeoutMillis + " ms: " + what)),
                  timeoutMillis,
                  TimeUnit.MILLISECONDS);
    }
  }

  private long timeoutNanos() {
    return timeoutMillis > 0
        ? TimeUnit.MILLISECONDS.toNanos(timeoutMillis)
        : TimeUnit.DAYS.toNanos(1);
  }

  /** Handles an event of the connection manager. */
  void handle(ConnectionEvent event) {
    if (!over) {
      step(event);
    }
  }

  @Override
  protected void disconnected(ConnectionEvent event) {
    fail(new ConnectException("Connection reset: " + event.identifier().peer()));
  }

  @Override
  protected void deviceRemoved(ConnectionEvent event) {
    disconnected(event);
  }

  @Override
  protected void failed(ConnectionEvent event) {
    fail(new ConnectException(event.type() + ": " + event.statusText() + ": " + peer));
  }

  @Override
  protected void rejected(ConnectionEvent event) {
    fail(rejection(event));
  }

  private ConnectException rejection(ConnectionEvent event) {
    if (event.status() == ConnectionEvent.REJECT_INVALID_SERVICE_ID) {
      return new ConnectException("Connection refused: " + peer);
    }
    RejectReason reason =
        event.status() == ConnectionEvent.REJECT_CONSUMER_DEFINED
            ? Rejection.decode(event.privateData())
            : null;
    ConnectException rejected =
        new ConnectException(
            "Connection rejected: "
                + (reason == null ? event.statusText() : reason.text())
                + ": "
                + peer);
    if (reason != null) {
      rejected.initCause(new RdmaConnectException("connect", peer.toString(), reason));
    }
    return rejected;
  }

  @Override
  protected void resolved(ConnectionEvent event) {
    if (stream != null) {
      return;
    }
    try {
      Stream made = new Stream(handler, identifier, owner.streamOwner());
      stream = made;
      if (port == 0) {
        choosePort();
      }
      ByteBuffer offer =
          ProgramPrivateData.append(made.handshake(port).encode(), owner.privateData());
      identifier.connect(ConnectionParameters.of(offer), timeoutNanos());
    } catch (BindException e) {
      fail(e);
    } catch (RuntimeException | Error e) {
      fail(new IOException("cannot connect to " + peer, e));
    }
  }

  /**
   * Takes the local port that the fabric has chosen. If it chooses none, or another channel has
   * bound that port, takes a free one, which the handshake tells the peer.
   *
   * @throws BindException if no port is free
   */
  private void choosePort() throws BindException {
    InetSocketAddress own = identifier.localAddress();
    if (own != null && own.getPort() == 0) {
      // The fabric chooses a port as it connects.
      return;
    }
    InetSocketAddress host = own == null ? handler.hca().local(0) : own;
    LocalPorts.Taken taken = own == null ? null : take(host, own.getPort());
    if (taken == null) {
      taken = LocalPorts.takeFree(free -> take(host, free));
    }
    if (taken == null) {
      throw new BindException(
          "Cannot assign requested address: all %d ports of %s have a connection to %s"
              .formatted(LocalPorts.COUNT, host.getAddress().getHostAddress(), peer));
    }
    releaseWithChannel(taken);
    if (own == null || taken.port() != own.getPort()) {
      port = taken.port();
    }
  }

  private LocalPorts.@Nullable Taken take(InetSocketAddress host, int wanted) {
    return LocalPorts.take(host.getAddress(), wanted, requireNonNull(listener));
  }

  private void releaseWithChannel(LocalPorts.@Nullable Taken taken) {
    if (taken != null) {
      owner.atClose(taken::release);
    }
  }

  @Override
  protected void established(ConnectionEvent event) {
    Stream made = stream;
    if (made == null) {
      return;
    }
    // Not before ESTABLISHED: bytes of the peer may arrive earlier, but belong to an active
    // channel.
    Handshake handshake = Handshake.decode((request == null ? event : request).privateData());
    if (handshake == null) {
      fail(new ConnectException("not a server of this protocol: " + peer));
      return;
    }
    if (!made.understands(handshake)) {
      fail(new ConnectException("only one of the two HCAs has immediate data: " + peer));
      return;
    }
    if (request != null && !owner.isWanted()) {
      // The connection counts as not accepted when the listener closed. The promise is not
      // completed: if it succeeded, Netty would set up a channel of a closed server; if it failed,
      // Netty would log a warning.
      end();
      owner.failed();
      return;
    }
    over = true;
    stopTimer();
    made.open(handshake);
    owner.established(made, local(), promise);
    // Handles what arrived before the channel was active.
    made.schedule();
  }

  private @Nullable InetSocketAddress local() {
    InetSocketAddress own = identifier.localAddress();
    if (own == null) {
      return request == null ? handler.hca().local(port) : null;
    }
    return port == 0 ? own : new InetSocketAddress(own.getAddress(), port);
  }

  private void fail(IOException cause) {
    if (!over) {
      end();
      handler.hca().meter().failed(request == null ? "connect" : "accept", null, cause);
      completePromise(cause);
      owner.failed();
    }
  }

  /** Ends the setup because the channel is closed. Idempotent. */
  void close() {
    if (!over) {
      end();
      completePromise(new ClosedChannelException());
    }
  }

  /**
   * Completes the promise. That of an accept succeeds: a client that leaves early is no failure, as
   * with a socket.
   */
  private void completePromise(IOException cause) {
    if (request == null) {
      promise.tryFailure(cause);
    } else {
      promise.trySuccess();
    }
  }

  private void end() {
    over = true;
    stopTimer();
    Stream made = stream;
    if (made != null) {
      made.abort();
    } else {
      handler.hca().dispatcher().forget(identifier);
      handler.hca().close("connection identifier", identifier::close);
    }
  }

  private void stopTimer() {
    Future<?> running = timer;
    if (running != null) {
      running.cancel(false);
    }
  }
}
