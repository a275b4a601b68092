// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.cm;

import io.verbena.AcceptDecision;
import io.verbena.ConnectRequest;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTimeoutException;
import io.verbena.RejectReason;
import io.verbena.core.cm.ProgramPrivateData;
import io.verbena.reactor.connection.Connection;
import io.verbena.reactor.connection.ConnectionContext;
import io.verbena.reactor.connection.ConnectionLifecycle;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.guard.FailureLog;
import io.verbena.reactor.wire.Handshake;
import io.verbena.reactor.wire.ProtocolException;
import io.verbena.reactor.wire.Rejection;
import io.verbena.reactor.wire.Rejection.Reason;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.VerbsException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of an accept, on its loop:
 *
 * <pre>{@code
 * requested --slot taken--> asking --yes, or no hook--> accepting --ESTABLISHED--> connected
 *     |                       |                            |                          |
 *     | handshake bad,        | no, hook fails,            | error,                   | DISCONNECTED
 *     | limit: reject         | deadline: reject           | deadline                 |
 *     +-----------------------+----------------------------+--------------------------+--> over
 * }</pre>
 */
final class AcceptAttempt extends ConnectionAttempt {
  private static final String OPERATION = "accept";

  private final Server server;
  private final ConnectionIdentifier identifier;
  private final ByteBuffer offer;
  private final @Nullable InetSocketAddress address;
  private @Nullable Handshake handshake;
  private @Nullable HookCall hookCall;
  private boolean hasSlot;
  private boolean answered;

  AcceptAttempt(ConnectionContext context, Server server, ConnectionEvent request) {
    super(context, OPERATION);
    this.server = server;
    identifier = request.identifier();
    address = identifier.remoteAddress();
    offer = request.privateData();
  }

  /** Answers the connect request. */
  void start() {
    try {
      startDeadline(context.options().connectTimeout().toNanos());
      if (!over) {
        answer();
      }
    } catch (Throwable e) {
      broke(e);
    }
  }

  private void answer() {
    try {
      handshake = Handshake.decode(offer);
    } catch (ProtocolException e) {
      reject(e.version() == null ? Reason.MALFORMED : Reason.VERSION);
      return;
    }
    ByteBuffer data = ProgramPrivateData.read(offer, Handshake.LENGTH);
    if (data == null) {
      reject(Reason.MALFORMED);
      return;
    }
    RdmaOptions options = context.options();
    RejectReason full =
        server.slots().take(address, options.maxConnections(), options.maxConnectionsPerPeer());
    if (full != null) {
      refuse(full);
      return;
    }
    hasSlot = true;
    HookCall call = server.ask(new ConnectRequest(peer(), address, data), this::hookAnswered);
    hookCall = call;
    if (call == null) {
      acceptUnlessClosing();
    }
  }

  /** Handles the hook's answer on the loop; called on any thread. */
  private void hookAnswered(@Nullable AcceptDecision decision, @Nullable Throwable failure) {
    onLoop(() -> decided(decision, failure));
  }

  private void decided(@Nullable AcceptDecision decision, @Nullable Throwable failure) {
    hookCall = null;
    if (over) {
      return;
    }
    if (decision == null) {
      hookFailed("its accept hook failed", failure);
    } else if (decision.rejection() != null) {
      refuse(decision.rejection());
    } else {
      acceptUnlessClosing();
    }
  }

  /**
   * Accepts, unless the server was disposed of while the request waited for the loop or the hook.
   */
  private void acceptUnlessClosing() {
    if (server.isDisposed()) {
      reject(Reason.CLOSING);
    } else {
      accept();
    }
  }

  private void hookFailed(String what, @Nullable Throwable failure) {
    FailureLog.get()
        .failed(
            new RdmaConnectException(
                OPERATION, peer(), failure == null ? what : what + ": " + failure, failure));
    refuse(new RejectReason(RejectReason.HOOK_FAILED, what));
  }

  private void accept() {
    ConnectionLifecycle prepared = new ConnectionLifecycle(context, identifier, this::ended);
    connection = prepared;
    identifier.accept(context.parameters(prepared.handshake().encode()));
    answered = true;
  }

  /** Rejects an unanswered request, so that the client need not wait for its deadline. */
  @Override
  void broke(Throwable thrown) {
    if (over) {
      FailureGuard.drop(thrown);
      return;
    }
    String reason =
        thrown instanceof VerbsException || thrown instanceof RdmaException
            ? "the HCA refused"
            : "it threw " + thrown;
    RdmaException why = new RdmaConnectException(OPERATION, peer(), reason, thrown);
    if (connection == null) {
      context.resources().meter().failed(OPERATION, null, thrown);
      FailureLog.get().failed(why);
      reject(Reason.RESOURCES);
    } else {
      rejectIfUnanswered();
      fail(why);
    }
  }

  /**
   * Rejects an unanswered request for lack of resources; closing the identifier would reject it
   * without a reason.
   */
  private void rejectIfUnanswered() {
    if (!answered) {
      try {
        reject(identifier, Reason.RESOURCES);
      } catch (VerbsException e) {
        // The accept has answered, or the client is gone: closing the identifier ends it.
        answered = true;
      }
    }
  }

  private void reject(Reason reason) {
    reject(new Rejection(Handshake.VERSION, reason).encode());
  }

  /** Rejects the request, as a limit or the program refuses the connection. */
  private void refuse(RejectReason reason) {
    context.resources().meter().refused(reason.code());
    reject(
        ProgramPrivateData.append(
            new Rejection(Handshake.VERSION, Reason.REFUSED).encode(), reason));
  }

  private void reject(ByteBuffer data) {
    over = true;
    // Before the reject: the client may connect again at once, or the hook may answer late.
    releaseSlot();
    cancelHookCall();
    try {
      identifier.reject(data);
    } catch (VerbsException e) {
      // The client is gone: the reject has no receiver.
    } finally {
      giveBack();
    }
  }

  /** Frees what the accept holds before there is a connection. */
  private void giveBack() {
    context.dispatcher().forget(identifier);
    context.resources().close("connection identifier", identifier::close);
    releaseSlot();
    cancelHookCall();
  }

  private void cancelHookCall() {
    HookCall call = hookCall;
    hookCall = null;
    if (call != null) {
      call.cancel();
    }
  }

  private void releaseSlot() {
    if (hasSlot) {
      hasSlot = false;
      server.slots().release(address);
    }
  }

  /** Rejects a connect request with the reason; the caller closes the identifier. */
  static void reject(ConnectionIdentifier identifier, Reason reason) {
    identifier.reject(new Rejection(Handshake.VERSION, reason).encode());
  }

  @Override
  String peer() {
    return identifier.peer();
  }

  @Override
  protected void established(ConnectionEvent event) {
    ConnectionLifecycle prepared = connection;
    Handshake other = handshake;
    if (over || prepared == null || other == null) {
      return;
    }
    Connection opened = prepared.open(other);
    over = true;
    connected = true;
    server.serve(opened);
  }

  @Override
  protected void rejected(ConnectionEvent event) {
    failed(event);
  }

  @Override
  protected void failed(ConnectionEvent event) {
    fail(new RdmaConnectException(OPERATION, peer(), event.type().toString()));
  }

  @Override
  RdmaException lost(ConnectionEvent event) {
    return new RdmaConnectException(OPERATION, peer(), "the client went away");
  }

  @Override
  void fail(RdmaException why) {
    if (over) {
      return;
    }
    over = true;
    context.resources().meter().failed(OPERATION, why.status(), why);
    FailureLog.get().failed(why);
    ConnectionLifecycle prepared = connection;
    if (prepared != null) {
      prepared.abort(why);
    } else {
      giveBack();
    }
  }

  private void ended() {
    // A client that disconnects at once can end the connection before ESTABLISHED arrives.
    over = true;
    context.dispatcher().forget(identifier);
    releaseSlot();
    if (connected) {
      server.ended();
    }
  }

  @Override
  void timedOut() {
    if (hookCall != null) {
      hookFailed("its accept hook gave no answer in time", null);
      return;
    }
    fail(
        new RdmaTimeoutException(
            OPERATION, peer(), "not established within " + context.options().connectTimeout()));
  }

  @Override
  public void shutDown(@Nullable Throwable broken) {
    if (!over && connection == null) {
      HookCall call = hookCall;
      hookCall = null;
      try {
        reject(broken == null ? Reason.CLOSING : Reason.RESOURCES);
      } finally {
        // Last, as it calls the program. The hook's thread may be the one that disposes of the
        // transport.
        if (call != null) {
          call.cancelWithoutInterrupt();
        }
      }
    } else {
      super.shutDown(broken);
    }
  }
}
