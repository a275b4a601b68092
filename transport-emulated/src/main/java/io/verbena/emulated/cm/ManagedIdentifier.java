// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.ConnectionLimits;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The state of an identifier, its queue pair, and the operations that each state allows. Guarded by
 * {@link #lock}.
 */
public abstract class ManagedIdentifier implements ConnectionIdentifier {
  /** No private data. */
  public static final ByteBuffer NO_DATA = ByteBuffer.allocate(0).asReadOnlyBuffer();

  /**
   * States of the active and of the passive end; each subclass documents the states that it uses.
   */
  protected enum State {
    RESOLVED,
    CONNECTING,
    REQUESTED,
    ACCEPTING,
    ESTABLISHED,
    ENDED
  }

  protected final Object lock;
  protected State state;
  protected boolean closed;
  protected @Nullable EmulatedQueuePair queuePair;

  /** The number of events in the {@link EventQueue}, which guards this field. */
  int untaken;

  /** True if the {@link EventQueue} drops the events; guarded by that queue. */
  boolean forgotten;

  private final EmulatedDevice device;
  private final PortSpace space;

  /**
   * Creates an identifier of a device.
   *
   * @param lock the lock that this identifier shares with others, or null for its own monitor
   */
  protected ManagedIdentifier(
      EmulatedDevice device, PortSpace space, @Nullable Object lock, State state) {
    this.device = device;
    this.space = space;
    this.lock = lock == null ? this : lock;
    this.state = state;
  }

  @Override
  public final @Nullable QueuePair queuePair() {
    synchronized (lock) {
      return queuePair;
    }
  }

  @Override
  public final QueuePair createQueuePair(ProtectionDomain domain, QueuePairOptions options) {
    synchronized (lock) {
      if (closed || queuePair != null) {
        throw invalid("create queue pair: it has one, or is closed");
      }
      EmulatedQueuePair pair = ManagedQueuePair.create(device, space, domain, options);
      queuePair = pair;
      return pair;
    }
  }

  protected final void requireState(String verb, State expected) {
    if (closed || state != expected) {
      throw invalid(
          verb + ": state: " + (closed ? "closed" : state) + " (expected: " + expected + ")");
    }
  }

  /**
   * Returns the queue pair; throws {@code INVALID} if there is none, or this is not the expected
   * state.
   */
  protected final EmulatedQueuePair requireQueuePair(String verb, State expected) {
    requireState(verb, expected);
    EmulatedQueuePair own = queuePair;
    if (own == null) {
      throw invalid(verb + ": no queue pair");
    }
    return own;
  }

  protected final void check(String verb, ConnectionParameters offered, int mostData) {
    ConnectionLimits.check(verb, offered, mostData, device.attributes());
  }

  /**
   * Moves the queue pair to ERR; called before the event of the end is raised, since the program
   * may then reuse the queue pair at once.
   *
   * @return the queue pair if the caller now has to {@linkplain EmulatedQueuePair#flushPending
   *     flush} its requests, without holding the lock; else null
   */
  protected final @Nullable EmulatedQueuePair failQueuePair() {
    EmulatedQueuePair own = queuePair;
    return own != null && own.moveToError() ? own : null;
  }

  private static VerbsException invalid(String message) {
    return new VerbsException(VerbsError.INVALID, message);
  }
}
