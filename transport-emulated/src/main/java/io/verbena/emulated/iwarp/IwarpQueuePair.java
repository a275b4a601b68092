// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.driven.DrivenQueuePair;
import io.verbena.emulated.driven.TurnFabric;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.MemoryKey;
import io.verbena.emulated.iwarp.stream.Denial;
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

/** A queue pair that is a stream of TCP: the engine that works its queues off. */
public final class IwarpQueuePair extends DrivenQueuePair implements Placement {
  private static final int LOCAL_WRITE = Access.LOCAL_WRITE.bit();
  private static final int REMOTE_READ = Access.REMOTE_READ.bit();
  private static final int REMOTE_ATOMIC = Access.REMOTE_ATOMIC.bit();
  private static final int REMOTE_WRITE = Access.REMOTE_WRITE.bit();

  private final TurnFabric fabric;
  private final StreamEngine engine;

  /** For those who have entered. */
  private @Nullable TcpStream stream;

  /** A stream that it is to have in the state that it goes to; for who changes that. */
  private @Nullable TcpStream next;

  private @Nullable StreamTerms nextTerms;

  /** Not false before there is a peer. */
  private volatile boolean peerHasExtensions = true;

  /** A queue pair of a fabric whose streams it may have. */
  public IwarpQueuePair(
      TurnFabric fabric, EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
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
   * Goes from INIT to a state in which it takes messages of a stream.
   *
   * @param to RTR, or RTS where this end may send too
   * @param attributes what the connection manager has agreed on
   * @throws VerbsException {@code INVALID} in another state, {@code CLOSED}; the stream is the
   *     caller's then
   */
  public void connect(
      TcpStream over, StreamTerms terms, QueuePairState to, QueuePairAttributes attributes) {
    next = over;
    nextTerms = terms;
    peerHasExtensions = terms.extensions();
    try {
      connected(to, attributes);
      if (next != null) {
        // It failed between its change of state and its turn.
        throw new VerbsException(
            VerbsError.INVALID,
            "connect queue pair: state: " + state() + " (expected: " + to + ")");
      }
    } finally {
      next = null;
      nextTerms = null;
    }
  }

  /** Goes from RTR to RTS: the peer takes messages too. */
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
    try {
      return engine.send(over.socket().output());
    } finally {
      over.settle(engine);
    }
  }

  /** For those who have entered: takes what has come; true if anything has. */
  boolean receive() {
    TcpStream over = stream;
    if (over == null) {
      return false;
    }
    boolean came = true;
    try {
      came = engine.receive(over.socket().input());
    } finally {
      if (came) {
        ring();
        over.settle(engine);
      }
    }
    return came;
  }

  /** For those who have entered: its socket takes bytes again. */
  void writable() {
    engine.writable();
    ring();
  }

  /** For those who have entered: its stream is no more. */
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
      // Meanwhile the engine may have gone to ERR by itself, which then is where it stays.
      if (state() == to) {
        tell(to);
      }
    } finally {
      fabric.leave();
    }
    return () -> {};
  }

  private void tell(QueuePairState to) {
    if (to != QueuePairState.ERR) {
      takesReceives();
    }
    switch (to) {
      case RTR, RTS -> takeNext();
      case RESET -> {
        peerHasExtensions = true;
        sayWhyItEnds();
        dropPosted();
        engine.reset();
        leave();
      }
      case ERR -> engine.flush();
      default -> {}
    }
    ring();
  }

  /** Not in other states: a program may change to those while the stream waits for this one. */
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
   * Whoever sees a completion that failed may reset or close at once, before the turn in which the
   * TERMINATE goes out (RFC 5040, section 4.8). What a full socket does not take is the stream's.
   */
  private void sayWhyItEnds() {
    TcpStream over = stream;
    if (over != null && engine.state() == StreamEngine.State.ENDING) {
      boolean unused = engine.send(over.socket().output());
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
  public Denial denial(Use use, int key, long address, long length) {
    MemoryKey opened = opened(key);
    if (opened == null) {
      return isKey(key) ? Denial.TAG_OF_ANOTHER_STREAM : Denial.INVALID_TAG;
    }
    if (!opened.gives(right(use))) {
      return Denial.ACCESS;
    }
    // If it is all right now, the key was none when it was looked up first.
    return opened.contains(address, length) ? Denial.INVALID_TAG : Denial.ofRange(address, length);
  }

  @Override
  public boolean show(Use use, int key, long address, int length, MemoryView view) {
    MemoryKey found = find(use, key, address, length);
    if (found == null) {
      return false;
    }
    view.show(found.memory(), found.offset(address), length);
    return true;
  }

  private @Nullable MemoryKey find(Use use, int key, long address, int length) {
    return use == Use.RECEIVE
        ? openReceive(key, address, length)
        : open(key, address, length, right(use));
  }

  private static int right(Use use) {
    return switch (use) {
      case SEND -> MemoryKey.LOCAL_READ;
      case SINK, RECEIVE -> LOCAL_WRITE;
      case READ -> REMOTE_READ;
      case WRITE -> REMOTE_WRITE;
      case ATOMIC -> REMOTE_ATOMIC;
    };
  }
}
