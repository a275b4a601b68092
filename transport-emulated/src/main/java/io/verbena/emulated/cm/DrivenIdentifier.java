// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm;

import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import java.nio.ByteBuffer;

/**
 * One end of a connection, or of a datagram resolution, of an HCA with a driver: the parameters
 * that this end offers, its events, and its close. The driver adds {@linkplain
 * DrivenConnectionManager#note notes}, and the thread that awaits events runs them. The order of
 * locks is identifier, queue pair, fabric.
 */
public abstract class DrivenIdentifier extends ManagedIdentifier {
  /** {@code -EPIPE}: the queue pair is closed, or its state does not allow connecting. */
  protected static final int BROKEN_PIPE = -32;

  /** The parameters that this end offers; for a passive end, set when it accepts. */
  protected ConnectionParameters parameters = ConnectionParameters.defaults();

  private final DrivenConnectionManager manager;

  /** Creates an end; the subclass calls {@link DrivenConnectionManager#opened}. */
  protected DrivenIdentifier(DrivenConnectionManager manager, PortSpace space, State state) {
    super(manager.device(), space, null, state);
    this.manager = manager;
  }

  /**
   * Notifies the peer that this end disconnects an established connection; called under the lock.
   */
  protected void sendDisconnect() {}

  /**
   * Notifies the peer that this end gives up before the connection is established; called under the
   * lock.
   */
  protected abstract void giveUp();

  /** Releases the manager's resources that this identifier holds; called when it is closed. */
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
        sendDisconnect();
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
        // A note may have established the connection meanwhile; it is then disconnected.
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
    manager.closed(DrivenConnectionManager.Kind.IDENTIFIER);
  }

  /**
   * Moves to ESTABLISHED, and raises that event with the parameters that the peer offers; called
   * under the lock.
   */
  protected final void establish(ByteBuffer data, int resources, int depth) {
    state = State.ESTABLISHED;
    raise(ConnectionEvent.Type.ESTABLISHED, 0, data, resources, depth);
  }

  /** Moves to ENDED and raises an event; called under the lock. */
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
