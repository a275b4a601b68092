// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm;

import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import java.nio.ByteBuffer;

/**
 * One end of a connection, or of a datagram resolution, beside a driver: the parameters that this
 * end offers, its events, and its end. The driver {@linkplain NotingConnectionManager#note notes}
 * what happens, and the thread that awaits events acts on the notes. Locks are taken in the order
 * identifier, queue pair, fabric.
 */
public abstract class NotingIdentifier extends ManagedIdentifier {
  /** {@code -EPIPE}: the queue pair is closed, or in no state to connect. */
  protected static final int BROKEN_PIPE = -32;

  /** The parameters that this end offers; for a passive end, set when it accepts. */
  protected ConnectionParameters parameters = ConnectionParameters.defaults();

  private final NotingConnectionManager manager;

  /** Creates an end, which the subclass registers with the manager as open. */
  protected NotingIdentifier(NotingConnectionManager manager, PortSpace space, State state) {
    super(manager.device(), space, null, state);
    this.manager = manager;
  }

  /** Tells the peer that this end leaves an established connection; called under the lock. */
  protected void sayEnd() {}

  /**
   * Tells the peer that nothing will be established; called under the lock, before it has ended.
   */
  protected abstract void giveUp();

  /** Gives back what it holds of the manager; called when it is closed. */
  protected void released() {}

  @Override
  public final void disconnect() {
    end(/* byUs= */ true);
  }

  /** Ends an established connection. */
  protected final void end(boolean byUs) {
    EmulatedQueuePair own;
    synchronized (this) {
      if (state != State.ESTABLISHED) {
        return;
      }
      state = State.ENDED;
      if (byUs) {
        sayEnd();
      }
      own = failQueuePair();
      raise(ConnectionEvent.Type.DISCONNECTED, 0, NO_DATA);
    }
    if (own != null) {
      own.flushPending();
    }
  }

  @Override
  public final void close() {
    boolean ended = false;
    while (!ended) {
      disconnect();
      synchronized (this) {
        if (closed) {
          return;
        }
        // A note may have established it since: then it is ended as what is established.
        ended = state != State.ESTABLISHED;
        if (ended) {
          if (state != State.ENDED) {
            giveUp();
          }
          state = State.ENDED;
          closed = true;
        }
      }
    }
    released();
    manager.forget(this);
    manager.closed(NotingConnectionManager.Kind.IDENTIFIER);
  }

  /**
   * Establishes the connection, and raises that event with the parameters that the peer offers;
   * called under the lock.
   */
  protected final void establish(ByteBuffer data, int resources, int depth) {
    state = State.ESTABLISHED;
    raise(ConnectionEvent.Type.ESTABLISHED, 0, data, resources, depth);
  }

  /** Ends with an event; called under the lock. */
  protected final void endBy(ConnectionEvent.Type type, int status, ByteBuffer data) {
    state = State.ENDED;
    raise(type, status, data);
  }

  /** Raises an event with the parameters that this end offers; called under the lock. */
  protected final void raise(ConnectionEvent.Type type, int status, ByteBuffer data) {
    raise(type, status, data, parameters.responderResources(), parameters.initiatorDepth());
  }

  private void raise(
      ConnectionEvent.Type type, int status, ByteBuffer data, int resources, int depth) {
    if (!closed) {
      manager.raise(new ConnectionEvent(type, this, null, status, data, resources, depth));
    }
  }
}
