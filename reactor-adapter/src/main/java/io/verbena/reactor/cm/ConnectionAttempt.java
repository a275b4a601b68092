// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.cm;

import io.verbena.HcaException;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaException;
import io.verbena.core.cm.ConnectionSteps;
import io.verbena.core.cm.EventTarget;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.reactor.connection.ConnectionContext;
import io.verbena.reactor.connection.ConnectionLifecycle;
import io.verbena.verbs.ConnectionEvent;
import org.jspecify.annotations.Nullable;

/**
 * An attempt to set up one connection, on its loop and within a deadline. What a step throws ends
 * the attempt. Once the connection is established, the attempt passes its end on.
 */
abstract class ConnectionAttempt extends ConnectionSteps
    implements EventTarget, CompletionLoop.TickListener {
  final ConnectionContext context;

  /** The operation that errors name. */
  private final String operation;

  @Nullable ConnectionLifecycle connection;
  boolean connected;
  boolean over;
  private int ticksLeft;

  ConnectionAttempt(ConnectionContext context, String operation) {
    this.context = context;
    this.operation = operation;
  }

  /** Returns the peer that errors name. */
  abstract String peer();

  /** Ends the attempt with what a step threw, errors of the JVM included. */
  abstract void broke(Throwable thrown);

  /** Ends the attempt, unless it is over. */
  abstract void fail(RdmaException why);

  /** Ends the attempt because its deadline has passed. */
  abstract void timedOut();

  /** Returns the error of a connection that the peer ends before it is established. */
  abstract RdmaException lost(ConnectionEvent event);

  /** Starts the deadline, which the loop's ticks measure. */
  final void startDeadline(long nanos) {
    ticksLeft = context.loop().ticks(nanos);
    context.loop().addTickListener(this);
  }

  /** Runs a step on the loop; called on any thread. */
  final void onLoop(Runnable step) {
    context
        .loop()
        .execute(
            () -> {
              try {
                step.run();
              } catch (Throwable e) {
                broke(e);
              }
            });
  }

  @Override
  public final void event(ConnectionEvent event) {
    onLoop(() -> step(event));
  }

  @Override
  protected final void disconnected(ConnectionEvent event) {
    ConnectionLifecycle established = connected ? connection : null;
    if (established != null) {
      established.disconnected();
    } else {
      fail(lost(event));
    }
  }

  @Override
  protected final void deviceRemoved(ConnectionEvent event) {
    ConnectionLifecycle established = connected ? connection : null;
    if (established != null) {
      established.deviceRemoved();
    } else {
      fail(new HcaException(operation, peer(), null, "the device was removed", null));
    }
  }

  @Override
  public final boolean tick() {
    if (!over && --ticksLeft < 0) {
      timedOut();
    }
    return !over;
  }

  @Override
  public void shutDown(@Nullable Throwable broken) {
    fail(
        broken == null
            ? new RdmaConnectException(operation, peer(), "the transport was disposed")
            : new HcaException(operation, peer(), null, "the loop broke down: " + broken, broken));
  }
}
