// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm;

import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import java.nio.ByteBuffer;

/**
 * One end of a connection, or of a question for datagrams, beside a driver: what this end offers,
 * its events, and how it ends. What the driver hears it {@linkplain NotingConnectionManager#note
 * notes}, and whoever awaits events acts on the notes. Locks are taken in the order identifier,
 * queue pair, fabric.
 */
public abstract class NotingIdentifier extends ManagedIdentifier {
  /** {@code -EPIPE}: the queue pair is closed, or in no state to connect. */
  protected static final int BROKEN_PIPE = -32;

  /** What this end offers; of a passive one, once it accepts. */
  protected ConnectionParameters parameters = ConnectionParameters.defaults();

  private final NotingConnectionManager manager;

  /** An end, of which a subclass tells the manager that it is open. */
  protected NotingIdentifier(NotingConnectionManager manager, PortSpace space, State state) {
    super(manager.device(), space, null, state);
    this.manager = manager;
  }

  /** Under the lock: tells the peer that this end leaves what was established. */
  protected void sayEnd() {}

  /** Under the lock, before it has ended: tells the peer that nothing becomes of it. */
  protected abstract void giveUp();

  /** It is closed: gives back what it has of the manager. */
  protected void released() {}

  @Override
  public final void disconnect() {
    end(/* byUs= */ true);
  }

  /** Ends what is established. */
  protected final void end(boolean byUs) {
    EmulatedQueuePair own;
    synchronized (this) {
      if (state != State.ESTABLISHED) {
        return;
      }
      state = State.ENDED;
      own = queuePair;
      if (byUs) {
        sayEnd();
      }
      raise(ConnectionEvent.Type.DISCONNECTED, 0, NO_DATA);
    }
    if (own != null) {
      own.fail();
    }
  }

  @Override
  public final void close() {
    disconnect();
    synchronized (this) {
      if (closed) {
        return;
      }
      if (state != State.ENDED) {
        giveUp();
      }
      state = State.ENDED;
      closed = true;
    }
    released();
    manager.forget(this);
    manager.closed(NotingConnectionManager.Kind.IDENTIFIER);
  }

  /** Under the lock: it is established, and tells so with what the peer offers. */
  protected final void establish(ByteBuffer data, int resources, int depth) {
    state = State.ESTABLISHED;
    raise(ConnectionEvent.Type.ESTABLISHED, 0, data, resources, depth);
  }

  /** Under the lock: it ends by an event. */
  protected final void endBy(ConnectionEvent.Type type, int status, ByteBuffer data) {
    state = State.ENDED;
    raise(type, status, data);
  }

  /** Under the lock: tells an event, with what this end offers. */
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
