// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.driven.DrivenFabric;
import io.verbena.emulated.driven.DrivenQueuePair;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.KeyEntry;
import io.verbena.emulated.iwarp.stream.AccessDenial;
import io.verbena.emulated.iwarp.stream.MemoryView;
import io.verbena.emulated.iwarp.stream.Placement;
import io.verbena.emulated.iwarp.stream.StreamEngine;
import io.verbena.emulated.iwarp.stream.StreamOptions;
import io.verbena.emulated.iwarp.stream.StreamTerms;
import io.verbena.verbs.Access;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import org.jspecify.annotations.Nullable;

/** A queue pair on a TCP stream, with the engine that executes its requests. */
public final class IwarpQueuePair extends DrivenQueuePair implements Placement {
  private static final int LOCAL_WRITE = Access.LOCAL_WRITE.bit();
  private static final int REMOTE_READ = Access.REMOTE_READ.bit();
  private static final int REMOTE_ATOMIC = Access.REMOTE_ATOMIC.bit();
  private static final int REMOTE_WRITE = Access.REMOTE_WRITE.bit();

  private final DrivenFabric fabric;
  private final StreamEngine engine;

  /** The stream, or null; for threads that have entered the fabric. */
  private @Nullable TcpStream stream;

  /**
   * The stream and terms to take with the next change of state; for the thread that makes the
   * change.
   */
  private @Nullable TcpStream next;

  private @Nullable StreamTerms nextTerms;

  /** Whether the peer supports RFC 7306; true while there is no peer. */
  private volatile boolean peerHasExtensions = true;

  /** Creates a queue pair of a fabric. */
  public IwarpQueuePair(
      DrivenFabric fabric, EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
    super(fabric, domain, number, options);
    this.fabric = fabric;
    engine =
        new StreamEngine(
            new StreamOptions(
                shared() != null,
                maxReceiveScatterGather(),
                device().attributes().maxMessageSize()),
            host(),
            this,
            sends());
  }

  /**
   * Takes a stream, and moves from INIT to a state in which the queue pair takes the stream's
   * messages.
   *
   * @param to RTR, or RTS if this end may send, too
   * @param attributes the attributes that the connection manager has agreed on
   * @throws VerbsException {@code INVALID} in another state than INIT, or {@code CLOSED}; then the
   *     stream still belongs to the caller
   */
  public void connect(
      TcpStream over, StreamTerms terms, QueuePairState to, QueuePairAttributes attributes) {
    next = over;
    nextTerms = terms;
    peerHasExtensions = terms.extensions();
    try {
      connected(to, attributes);
      if (next != null) {
        // The queue pair failed between its change of state and its turn on the fabric.
        throw new VerbsException(
            VerbsError.INVALID,
            "connect queue pair: state: " + state() + " (expected: " + to + ")");
      }
    } finally {
      next = null;
      nextTerms = null;
    }
  }

  /** Moves from RTR to RTS: the peer takes messages, too. */
  public void ready() {
    connected(QueuePairState.RTS, new QueuePairAttributes());
  }

  @Override
  protected boolean peerHasExtensions() {
    return peerHasExtensions;
  }

  @Override
  protected boolean serve() {
    if (state() == QueuePairState.ERR) {
      engine.flush();
    }
    TcpStream over = stream;
    if (over == null) {
      return false;
    }
    // Rings again if any bytes came, so that later turns take the rest.
    boolean unused = over.hasMore() && receive();
    try {
      return engine.send(over.output());
    } finally {
      over.settle(engine);
    }
  }

  /**
   * Takes bytes that have come; returns whether there were any. For threads that have entered the
   * fabric.
   */
  boolean receive() {
    TcpStream over = stream;
    if (over == null) {
      return false;
    }
    boolean came = true;
    try {
      came = engine.receive(over.input());
    } finally {
      if (came) {
        ring();
        over.settle(engine);
      }
    }
    return came;
  }

  /**
   * Continues to send, since the socket takes bytes again; for threads that have entered the
   * fabric.
   */
  void writable() {
    engine.writable();
    ring();
  }

  /** Notes that the stream is gone; for threads that have entered the fabric. */
  void lost() {
    engine.lost();
  }

  @Override
  protected boolean isDraining() {
    return false;
  }

  @Override
  protected void attributesChanged() {}

  @Override
  protected Runnable entered(QueuePairState to) {
    fabric.enter();
    try {
      // The engine may have moved to ERR meanwhile; then the queue pair stays there.
      if (state() == to) {
        notifyEngine(to);
      }
    } finally {
      fabric.leave();
    }
    return () -> {};
  }

  private void notifyEngine(QueuePairState to) {
    if (to != QueuePairState.ERR) {
      takesReceives();
    }
    switch (to) {
      case RTR, RTS -> takeNext();
      case RESET -> {
        peerHasExtensions = true;
        sendTerminate();
        dropPosted();
        engine.reset();
        leave();
      }
      case ERR -> engine.flush();
      default -> {}
    }
    ring();
  }

  /**
   * Takes the stream. Only in RTR and RTS: a program may change to other states while the stream
   * waits for this queue pair.
   */
  private void takeNext() {
    TcpStream over = next;
    StreamTerms terms = nextTerms;
    if (over != null && terms != null) {
      engine.start(terms);
      stream = over;
      next = null;
      over.carries(this);
    }
  }

  /**
   * Sends a pending TERMINATE now (RFC 5040, section 4.8): a program that sees a failed completion
   * may reset or close the queue pair before the turn in which the TERMINATE would go out. The
   * stream keeps the bytes that a full socket does not take.
   */
  private void sendTerminate() {
    TcpStream over = stream;
    if (over != null && engine.state() == StreamEngine.State.ENDING) {
      boolean unused = engine.send(over.output());
      over.settle(engine);
    }
  }

  private void leave() {
    TcpStream over = stream;
    stream = null;
    if (over != null) {
      over.shut();
    }
  }

  @Override
  protected void flush() {
    fabric.enter();
    try {
      if (state() == QueuePairState.ERR) {
        engine.flush();
        ring();
      }
    } finally {
      fabric.leave();
    }
  }

  // ---- memory

  @Override
  public boolean allows(Use use) {
    return switch (use) {
      case READ -> allows(REMOTE_READ) && servesReadsAndAtomics();
      case ATOMIC -> allows(REMOTE_ATOMIC) && servesReadsAndAtomics();
      case WRITE -> allows(REMOTE_WRITE);
      case SEND, SINK, RECEIVE -> true;
    };
  }

  @Override
  public boolean permits(Use use, int key, long address, int length) {
    return find(use, key, address, length) != null;
  }

  @Override
  public AccessDenial denial(Use use, int key, long address, long length) {
    KeyEntry opened = opened(key);
    if (opened == null) {
      return isKey(key) ? AccessDenial.TAG_OF_ANOTHER_STREAM : AccessDenial.INVALID_TAG;
    }
    if (!opened.gives(right(use))) {
      return AccessDenial.ACCESS;
    }
    // If the range is valid now, the key was not yet valid at the first lookup.
    return opened.contains(address, length)
        ? AccessDenial.INVALID_TAG
        : AccessDenial.ofRange(address, length);
  }

  @Override
  public boolean show(Use use, int key, long address, int length, MemoryView view) {
    KeyEntry found = find(use, key, address, length);
    if (found == null) {
      return false;
    }
    view.show(found.memory(), found.offset(address), length);
    return true;
  }

  private @Nullable KeyEntry find(Use use, int key, long address, int length) {
    return use == Use.RECEIVE
        ? openReceive(key, address, length)
        : open(key, address, length, right(use));
  }

  private static int right(Use use) {
    return switch (use) {
      case SEND -> KeyEntry.LOCAL_READ;
      case SINK, RECEIVE -> LOCAL_WRITE;
      case READ -> REMOTE_READ;
      case WRITE -> REMOTE_WRITE;
      case ATOMIC -> REMOTE_ATOMIC;
    };
  }
}
