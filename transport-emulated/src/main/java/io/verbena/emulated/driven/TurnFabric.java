// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.driven;

import io.verbena.emulated.hca.Fabric;
import io.verbena.emulated.hca.FailureLog;
import io.verbena.emulated.hca.Secrets;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A fabric whose requests are done by engines, which somebody drives: who posts rings, and the
 * driver {@linkplain #serve serves} those that rang.
 *
 * <p>One thread at a time calls engines: it has {@linkplain #enter entered}. Programs enter only to
 * change or close something, never to post or poll. Locks are taken in the order connection, queue
 * pair, fabric; under the last no other is taken but those of event queues.
 */
public abstract class TurnFabric implements Fabric {
  private final Secrets secrets;

  // Fair, so that a program which changes something has its turn while the driver is busy.
  private final ReentrantLock turn = new ReentrantLock(true);
  private final Doorbells doorbells = new Doorbells();
  private final ArrayDeque<Runnable> afterwards = new ArrayDeque<>();

  protected TurnFabric(Secrets secrets) {
    this.secrets = secrets;
  }

  /** Somebody rang, or something has changed: the driver is to look, if it sleeps. */
  public abstract void wake();

  @Override
  public final Secrets secrets() {
    return secrets;
  }

  /** Becomes the one who calls engines. */
  @SuppressWarnings("LockNotBeforeTry") // leave unlocks
  public final void enter() {
    turn.lock();
  }

  /** Becomes the one who calls engines, if that takes no waiting; true if it did. */
  public final boolean tryEnter() {
    return turn.tryLock();
  }

  /** Gives it up. */
  public final void leave() {
    try {
      if (turn.getHoldCount() == 1) {
        settle();
      }
    } finally {
      turn.unlock();
    }
  }

  /** Does a step as the one who calls engines. */
  public final void entered(Runnable step) {
    enter();
    try {
      step.run();
    } finally {
      leave();
    }
  }

  /** Returns once whoever calls engines at this moment is done. */
  final void awaitTurn() {
    enter();
    leave();
  }

  /** {@inheritDoc} Engines alone copy. */
  @Override
  public final void awaitCopies() {
    awaitTurn();
  }

  final void ring(Doorbells.Bell bell) {
    doorbells.ring(bell);
    wake();
  }

  /** Whether somebody waits to be served. */
  public final boolean hasRung() {
    return !doorbells.isEmpty();
  }

  /**
   * For those who have entered: serves each queue pair that rang, once; false if none did.
   *
   * <p>What an engine throws is thrown on when all are served: it has stopped its own queue pair,
   * and the others go on.
   */
  public boolean serve() {
    Doorbells.Bell bell = doorbells.takeAll();
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

  /** Tells of what an engine threw, on a thread that goes on. */
  public static void report(Throwable mistake) {
    FailureLog.get().failed(mistake);
  }

  /** Within a call of an engine: has this done when the engine can be called again. */
  public final void afterwards(Runnable action) {
    afterwards.add(action);
  }

  /** For those who have entered, after a call of an engine: does what had to wait for its end. */
  public final void settle() {
    Runnable action = afterwards.poll();
    while (action != null) {
      action.run();
      action = afterwards.poll();
    }
  }
}
