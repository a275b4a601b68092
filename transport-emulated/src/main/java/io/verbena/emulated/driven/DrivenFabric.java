// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.driven;

import io.verbena.emulated.hca.Fabric;
import io.verbena.emulated.hca.FailureLog;
import io.verbena.emulated.hca.Secrets;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A fabric whose engines execute the requests. A thread that posts rings a doorbell, and the
 * fabric's driver {@linkplain #serve serves} the queue pairs that rang.
 *
 * <p>One thread at a time calls engines: the thread that has {@linkplain #enter entered}. Threads
 * of programs wait to enter only to change or close something, never when they post or poll. Locks
 * are taken in the order connection, queue pair, fabric; under the fabric's lock only the locks of
 * event queues are taken.
 */
public abstract class DrivenFabric implements Fabric {
  /** One of this many calls of {@link #serveNow} rings, so that the next poll takes a turn. */
  private static final int SERVED_NOW_ROUND = 8;

  private final Secrets secrets;

  // Fair, so that a program that changes something gets its turn while the driver is busy.
  private final ReentrantLock turn = new ReentrantLock(true);
  private final Doorbells doorbells = new Doorbells();
  private final ArrayDeque<Runnable> afterwards = new ArrayDeque<>();
  private int servedNow;

  /**
   * True if the driver has had a turn since a thread that posts has served its queue pair; a hint,
   * which threads may read late.
   */
  private boolean hadTurn;

  protected DrivenFabric(Secrets secrets) {
    this.secrets = secrets;
  }

  /** Wakes the driver if it sleeps: a queue pair rang, or something has changed. */
  public abstract void wake();

  @Override
  public final Secrets secrets() {
    return secrets;
  }

  /** Makes this thread the one that calls engines, after waiting for its turn. Reentrant. */
  @SuppressWarnings("LockNotBeforeTry") // leave unlocks
  public final void enter() {
    turn.lock();
  }

  /** Makes this thread the one that calls engines, if it need not wait; returns whether it did. */
  public final boolean tryEnter() {
    return turn.tryLock();
  }

  /**
   * Ends the turn that {@link #enter} began. The outermost call first {@linkplain #settle settles}.
   */
  public final void leave() {
    try {
      if (turn.getHoldCount() == 1) {
        settle();
      }
    } finally {
      turn.unlock();
    }
  }

  /** Runs a step as the thread that calls engines. */
  public final void entered(Runnable step) {
    enter();
    try {
      step.run();
    } finally {
      leave();
    }
  }

  /** Waits until the thread that calls engines at this moment is done. */
  final void awaitTurn() {
    enter();
    leave();
  }

  /** {@inheritDoc} Only engines copy. */
  @Override
  public final void awaitCopies() {
    awaitTurn();
  }

  final void ring(Doorbells.Bell bell) {
    doorbells.ring(bell);
    wake();
  }

  /**
   * Returns whether a thread that posts may send the packets of its requests at once. Returns false
   * where each sending costs so much that those of several requests are better sent together.
   */
  protected boolean sendsAtOnce() {
    return false;
  }

  /**
   * Serves a queue pair on this thread, as {@link #serve} would, if no thread is in the engines and
   * no other queue pair waits; otherwise rings for it.
   *
   * <p>For a READ, which may be done on return, also rings now and then in any case: a thread that
   * finds its completions at once would do nothing else for the fabric. Other requests are served
   * at once only if they are the first since the driver's last turn: those of several posts are
   * better served together.
   */
  final void serveNow(Doorbells.Bell bell, boolean read) {
    boolean together = !read && !(hadTurn && sendsAtOnce());
    if (together || hasRung() || turn.isHeldByCurrentThread() || !turn.tryLock()) {
      ring(bell);
      return;
    }
    try {
      hadTurn = false;
      boolean othersDue = read && ++servedNow % SERVED_NOW_ROUND == 0;
      if (othersDue || !hasRoom() || bell.pair.serve()) {
        doorbells.ring(bell);
      }
      settle();
    } catch (RuntimeException | Error e) {
      // The request is posted: an exception of an engine is not a failure of the post.
      report(e);
    } finally {
      leave();
    }
    // A driver that sleeps does not know of the alarms that this call has set.
    wake();
  }

  /** Returns whether a queue pair waits to be served. */
  public final boolean hasRung() {
    return !doorbells.isEmpty();
  }

  /**
   * Serves each queue pair that rang, once; returns false if none did, or there is no {@linkplain
   * #hasRoom room}. The caller has entered.
   *
   * <p>An exception of an engine is rethrown when all are served: that engine has stopped its own
   * queue pair, and the others continue.
   */
  public final boolean serve() {
    if (!hadTurn) {
      hadTurn = true;
    }
    Doorbells.Bell bell = hasRoom() ? doorbells.takeAll() : null;
    if (bell == null) {
      return false;
    }
    Throwable thrown = null;
    while (bell != null) {
      Doorbells.Bell next = bell.next;
      try {
        bell.lower();
        if (bell.pair.serve()) {
          doorbells.ring(bell);
        }
        settle();
      } catch (RuntimeException | Error e) {
        if (thrown != null) {
          e.addSuppressed(thrown);
        }
        thrown = e;
      }
      bell = next;
    }
    if (thrown instanceof Error error) {
      throw error;
    }
    if (thrown instanceof RuntimeException exception) {
      throw exception;
    }
    return true;
  }

  /** Returns whether queue pairs may send now. The caller has entered. */
  protected boolean hasRoom() {
    return true;
  }

  /** Logs an exception of an engine, on a thread that continues. */
  public static void report(Throwable mistake) {
    FailureLog.get().failed(mistake);
  }

  /** Runs an action once the engine can be called again. Called within a call of the engine. */
  public final void afterwards(Runnable action) {
    afterwards.add(action);
  }

  /**
   * Runs the actions of {@link #afterwards}. Called after a call of an engine, by a thread that has
   * entered.
   */
  public final void settle() {
    Runnable action = afterwards.poll();
    while (action != null) {
      action.run();
      action = afterwards.poll();
    }
  }
}
