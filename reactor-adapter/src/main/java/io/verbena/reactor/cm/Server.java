// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.cm;

import io.verbena.AcceptHook;
import io.verbena.ConnectRequest;
import io.verbena.HcaException;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RdmaServer;
import io.verbena.core.cm.ConnectionEventDispatcher;
import io.verbena.core.cm.ConnectionSlots;
import io.verbena.core.cm.EventTarget;
import io.verbena.reactor.connection.Connection;
import io.verbena.reactor.connection.ConnectionContext;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.guard.FailureLog;
import io.verbena.reactor.wire.Rejection.Reason;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/** A server on one device: accepts connections, and calls the handler for each on its loop. */
public final class Server implements RdmaServer, EventTarget {
  /** The most connect requests that may wait for an answer. */
  private static final int BACKLOG = 1024;

  private final ConnectionEventDispatcher dispatcher;
  private final Supplier<ConnectionContext> contexts;
  private final RdmaMemory memory;
  private final Function<RdmaConnection, ? extends Publisher<Void>> handler;
  private final @Nullable AcceptHook hook;
  private final Scheduler hookThreads;
  private final ConnectionSlots slots;
  private final ConnectionListener listener;
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicBoolean disposed = new AtomicBoolean();
  private final AtomicBoolean listens = new AtomicBoolean(true);
  private final Sinks.Empty<Void> closed = Sinks.empty();

  /**
   * Starts to listen.
   *
   * @param contexts returns the context of the next connection
   * @param slots count the connections against the limits
   * @param hook decides which connections are accepted; null to accept all
   * @param hookThreads runs the hook
   * @throws io.verbena.verbs.VerbsException if the address is in use, or cannot be listened on
   */
  public Server(
      URI address,
      ConnectionEventDispatcher dispatcher,
      Supplier<ConnectionContext> contexts,
      RdmaMemory memory,
      ConnectionSlots slots,
      @Nullable AcceptHook hook,
      Scheduler hookThreads,
      Function<RdmaConnection, ? extends Publisher<Void>> handler) {
    this.dispatcher = dispatcher;
    this.contexts = contexts;
    this.memory = memory;
    this.slots = slots;
    this.hook = hook;
    this.hookThreads = hookThreads;
    this.handler = handler;
    listener = dispatcher.listen(address, BACKLOG, this);
  }

  @Override
  public void event(ConnectionEvent request) {
    ConnectionIdentifier identifier = request.identifier();
    try {
      ConnectionContext context = contexts.get();
      AcceptAttempt attempt = new AcceptAttempt(context, this, request);
      dispatcher.register(identifier, attempt);
      context.loop().execute(attempt::start);
    } catch (Throwable e) {
      // For example, the loop broke down and the device or the JVM has no resources for another
      // one.
      dispatcher.forget(identifier);
      FailureLog.get()
          .failed(
              new RdmaConnectException(
                  "accept", identifier.peer(), "no loop can be had for it: " + e, e));
      try {
        AcceptAttempt.reject(identifier, Reason.RESOURCES);
      } finally {
        identifier.close();
      }
    }
  }

  @Override
  public void deviceFailed(VerbsException why) {
    if (disposed.compareAndSet(false, true)) {
      try {
        stopListening();
      } finally {
        emitFailed(why);
      }
    }
  }

  private void emitFailed(VerbsException why) {
    HcaException failure =
        new HcaException("bind", null, null, "the device of " + address() + " has failed", why);
    try {
      // On a loop: subscribers must not run on the dispatcher's thread.
      contexts.get().loop().execute(() -> closed.tryEmitError(failure));
    } catch (VerbsException e) {
      // No loop is left, and none can be made on a device that failed.
      closed.tryEmitError(failure);
    }
  }

  /** Returns the slots of its connections. */
  ConnectionSlots slots() {
    return slots;
  }

  /** Calls the hook; returns null if there is none. */
  @Nullable HookCall ask(ConnectRequest request, HookCall.Listener listener) {
    return hook == null ? null : HookCall.start(hook, request, hookThreads, listener);
  }

  /** Calls the handler for an established connection; on the loop of the connection. */
  void serve(Connection connection) {
    connections.incrementAndGet();
    HandlerSubscription.start(handler, connection);
  }

  /** Counts one of the served connections as closed. */
  void ended() {
    connections.decrementAndGet();
  }

  @Override
  public URI address() {
    return listener.address();
  }

  @Override
  public RdmaMemory memory() {
    return memory;
  }

  @Override
  public int connectionCount() {
    return connections.get();
  }

  @Override
  public Mono<Void> onClose() {
    return FailureGuard.guarded(closed.asMono());
  }

  /** {@inheritDoc} A further call tries again to close a listener that could not be closed. */
  @Override
  public void dispose() {
    boolean first = disposed.compareAndSet(false, true);
    try {
      stopListening();
    } finally {
      if (first) {
        closed.tryEmitEmpty();
      }
    }
  }

  private void stopListening() {
    if (listens.compareAndSet(true, false)) {
      boolean stopped = false;
      try {
        dispatcher.close(listener);
        stopped = true;
      } finally {
        listens.set(!stopped);
      }
    }
  }

  /** Returns whether the listener is open, as it is after a dispose that failed. */
  public boolean isListening() {
    return listens.get();
  }

  @Override
  public boolean isDisposed() {
    return disposed.get();
  }
}
