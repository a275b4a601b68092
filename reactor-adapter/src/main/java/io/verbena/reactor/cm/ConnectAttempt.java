// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.cm;

import io.verbena.ConnectionClosedException;
import io.verbena.HandshakeException;
import io.verbena.HcaException;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaTimeoutException;
import io.verbena.RejectReason;
import io.verbena.core.cm.ProgramPrivateData;
import io.verbena.core.loop.Awaited;
import io.verbena.core.loop.HeldUp;
import io.verbena.reactor.connection.Connection;
import io.verbena.reactor.connection.ConnectionContext;
import io.verbena.reactor.connection.ConnectionLifecycle;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.guard.HeldUpLoop;
import io.verbena.reactor.wire.Handshake;
import io.verbena.reactor.wire.ProtocolException;
import io.verbena.reactor.wire.Rejection;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * The state machine of a connect, on its loop:
 *
 * <pre>{@code
 * resolving --ADDR_RESOLVED--> connecting --ESTABLISHED--> connected --DISCONNECTED--> over
 *     +------------------------------+--- error, deadline, cancel ----------------------^
 * }</pre>
 */
final class ConnectAttempt extends ConnectionAttempt implements Subscription, Awaited {
  private static final String OPERATION = "connect";

  private final URI address;
  private final ByteBuffer data;
  private final CoreSubscriber<? super RdmaConnection> actual;
  private final AtomicBoolean started = new AtomicBoolean();

  /** Whether the loop or its watchdog is signalling the subscriber, or has done so. */
  private final AtomicBoolean signalled = new AtomicBoolean();

  private final long timeoutNanos;

  /** The timeout for errors, in whole milliseconds. */
  private final Duration timeout;

  private @Nullable ConnectionIdentifier identifier;
  private boolean handingOver;
  private volatile boolean cancelled;

  ConnectAttempt(
      URI address,
      ByteBuffer data,
      long timeoutNanos,
      ConnectionContext context,
      CoreSubscriber<? super RdmaConnection> actual) {
    super(context, OPERATION);
    this.address = address;
    this.data = data;
    this.actual = actual;
    this.timeoutNanos = timeoutNanos;
    timeout = Duration.ofNanos(timeoutNanos).truncatedTo(ChronoUnit.MILLIS);
  }

  @Override
  public void request(long n) {
    if (Operators.validate(n) && started.compareAndSet(false, true)) {
      context.loop().waiters().add(this);
      context.loop().execute(this::start);
    }
  }

  /** Cancels the connect. A connection that the subscriber has got is not closed. */
  @Override
  public void cancel() {
    if (handingOver && context.loop().inLoop()) {
      // The subscriber takes one value, and cancels while it gets the connection.
      return;
    }
    cancelled = true;
    if (!started.compareAndSet(false, true)) {
      context.loop().execute(this::cancelled);
    }
  }

  private void start() {
    if (over || cancelled) {
      end();
      return;
    }
    try {
      startDeadline(timeoutNanos);
      if (!over) {
        identifier = context.dispatcher().resolve(address, timeoutNanos, this);
      }
    } catch (VerbsException e) {
      fail(new RdmaConnectException(OPERATION, peer(), "no way to the address", e));
    } catch (Throwable e) {
      broke(e);
    }
  }

  @Override
  void broke(Throwable thrown) {
    if (over) {
      FailureGuard.drop(thrown);
    } else {
      fail(
          thrown instanceof RdmaException typed
              ? typed
              : new RdmaConnectException(OPERATION, peer(), "it threw " + thrown, thrown));
    }
  }

  @Override
  String peer() {
    return address.toString();
  }

  @Override
  protected void resolved(ConnectionEvent event) {
    if (over || connection != null) {
      return;
    }
    ConnectionIdentifier resolved = event.identifier();
    try {
      ConnectionLifecycle prepared =
          new ConnectionLifecycle(context, resolved, () -> context.dispatcher().forget(resolved));
      connection = prepared;
      ByteBuffer offer = ProgramPrivateData.append(prepared.handshake().encode(), data);
      resolved.connect(context.parameters(offer), timeoutNanos);
    } catch (VerbsException e) {
      fail(new HcaException(OPERATION, peer(), null, "the HCA refused", e));
    }
  }

  @Override
  protected void established(ConnectionEvent event) {
    ConnectionLifecycle prepared = connection;
    if (over || prepared == null) {
      return;
    }
    Handshake other;
    try {
      other = Handshake.decode(event.privateData());
    } catch (ProtocolException e) {
      fail(protocolError(e));
      return;
    }
    Connection opened = prepared.open(other);
    end();
    connected = true;
    FailureGuard guard = new FailureGuard(thrown -> abort(opened, thrown), opened.peer());
    boolean wanted = !cancelled && signalled.compareAndSet(false, true);
    boolean taken = false;
    if (wanted) {
      handingOver = true;
      taken = guard.emitNext(actual, opened, OPERATION);
      handingOver = false;
    }
    if (cancelled || !wanted) {
      // Also if it was cancelled during the call: the subscriber may have dropped the connection.
      opened.dispose();
    } else if (taken) {
      guard.emitComplete(actual);
    }
  }

  /** Ends a connection whose subscriber threw: no other subscriber may have it. */
  private static void abort(Connection opened, Throwable thrown) {
    opened.abort(
        new ConnectionClosedException(
            OPERATION, opened.peer(), null, "its subscriber threw " + thrown, thrown));
  }

  @Override
  protected void rejected(ConnectionEvent event) {
    fail(rejection(event));
  }

  @Override
  protected void failed(ConnectionEvent event) {
    fail(lost(event));
  }

  private RdmaException rejection(ConnectionEvent event) {
    String peer = peer();
    if (event.status() != ConnectionEvent.REJECT_CONSUMER_DEFINED) {
      return new RdmaConnectException(OPERATION, peer, event.statusText());
    }
    Rejection rejection;
    try {
      rejection = Rejection.decode(event.privateData());
    } catch (ProtocolException e) {
      return protocolError(e);
    }
    String reason = "the server rejected it " + rejection.reason().text();
    return switch (rejection.reason()) {
      case VERSION, MALFORMED ->
          new HandshakeException(
              OPERATION,
              peer,
              reason
                  + "; its protocol version: "
                  + rejection.version()
                  + " (expected: "
                  + Handshake.VERSION
                  + ")");
      case REFUSED -> {
        RejectReason why = ProgramPrivateData.readReason(event.privateData(), Rejection.LENGTH);
        yield why == null
            ? new RdmaConnectException(OPERATION, peer, reason)
            : new RdmaConnectException(OPERATION, peer, why);
      }
      case UNKNOWN, RESOURCES, CLOSING -> new RdmaConnectException(OPERATION, peer, reason);
    };
  }

  private HandshakeException protocolError(ProtocolException problem) {
    return new HandshakeException(
        OPERATION,
        peer(),
        "the server does not speak this protocol: " + problem.getMessage(),
        problem);
  }

  @Override
  RdmaException lost(ConnectionEvent event) {
    if (event.status() == ConnectionEvent.TIMED_OUT) {
      return timeout();
    }
    return new RdmaConnectException(OPERATION, peer(), event.type() + ": " + event.statusText());
  }

  private RdmaTimeoutException timeout() {
    return new RdmaTimeoutException(
        OPERATION, peer(), "not established within " + timeout + ": " + ConnectionEvent.NO_ANSWER);
  }

  @Override
  void fail(RdmaException why) {
    if (!over) {
      try {
        giveUp(why);
      } finally {
        if (!cancelled && signalled.compareAndSet(false, true)) {
          context.resources().meter().failed(OPERATION, why.status(), why);
          emitFailure(why);
        }
      }
    }
  }

  /** Signals the error; drops what the subscriber throws, as there is no connection to end. */
  private void emitFailure(RdmaException why) {
    try {
      actual.onError(why);
    } catch (Throwable thrown) {
      FailureGuard.drop(thrown);
    }
  }

  private void cancelled() {
    if (!over) {
      giveUp(null);
    }
  }

  /** Ends the attempt, and frees all that it has made so far. */
  private void giveUp(@Nullable RdmaException why) {
    end();
    ConnectionLifecycle prepared = connection;
    ConnectionIdentifier begun = identifier;
    if (prepared != null) {
      prepared.abort(why);
    } else if (begun != null) {
      context.dispatcher().forget(begun);
      context.resources().close("connection identifier", begun::close);
    }
  }

  private void end() {
    over = true;
    context.loop().waiters().remove(this);
  }

  @Override
  public long patience() {
    return timeoutNanos;
  }

  @Override
  public @Nullable Runnable expire(HeldUp why) {
    if (cancelled || !signalled.compareAndSet(false, true)) {
      return null;
    }
    cancelled = true;
    context.loop().execute(this::cancelled);
    RdmaException error = HeldUpLoop.timeout(OPERATION, peer(), timeout, why);
    return () -> {
      context.resources().meter().failed(OPERATION, null, error);
      emitFailure(error);
    };
  }

  @Override
  void timedOut() {
    fail(timeout());
  }
}
