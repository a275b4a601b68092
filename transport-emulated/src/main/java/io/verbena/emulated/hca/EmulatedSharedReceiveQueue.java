// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.Range;
import java.util.ArrayDeque;

/**
 * A receive queue for several queue pairs. A thread that handles a message owns {@link #taking}
 * only while it moves one receive into the queue pair's own ring, so messages are copied in
 * parallel. A slot is free again when the receive's completion was polled, on any completion queue,
 * or its queue pair was reset; {@link TakenReceives} counts these slots.
 */
public final class EmulatedSharedReceiveQueue implements SharedReceiveQueue {
  private final EmulatedProtectionDomain domain;
  private final ReceiveRing receives;
  private final Ownership taking = new Ownership();

  /**
   * The queue pairs that found this queue empty, each once, oldest first; accessed by the owner of
   * {@link #taking}. A queue pair that was closed or found a receive meanwhile has nothing to do in
   * its turn.
   */
  private final ArrayDeque<TakenReceives> starved = new ArrayDeque<>(0);

  /** 1 while there are starved queue pairs. */
  private final PaddedLong anyStarved = new PaddedLong();

  /** The queue pairs that take from this queue; changed under this object's monitor. */
  private final Attachments users = new Attachments();

  private volatile boolean closed;

  /** Written by the owner of {@link #taking}. */
  private volatile int limit;

  EmulatedSharedReceiveQueue(
      EmulatedProtectionDomain domain, int maxWorkRequests, int maxScatterGather) {
    this.domain = domain;
    receives = ReceiveRing.shared(maxWorkRequests, maxScatterGather);
  }

  EmulatedProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public int maxWorkRequests() {
    return receives.maxReceive();
  }

  @Override
  public int maxScatterGather() {
    return receives.maxScatterGather();
  }

  @Override
  public int limit() {
    checkOpen("query");
    return limit;
  }

  @Override
  public void limit(int newLimit) {
    checkOpen("modify");
    domain.device().requireWhole("modify shared receive queue");
    Range.check("modify shared receive queue", "limit", newLimit, 0, maxWorkRequests());
    taking.acquire();
    limit = newLimit;
    taking.release();
  }

  private void checkOpen(String verb) {
    if (closed) {
      throw new VerbsException(VerbsError.CLOSED, verb + ": the shared receive queue is closed");
    }
  }

  @Override
  public void postReceive(ReceiveWorkRequest request) {
    receives.posting.acquire();
    try {
      if (closed) {
        throw new PostException(
            VerbsError.CLOSED, request.id(), "the shared receive queue is closed");
      }
      for (ReceiveWorkRequest next = request; next != null; next = next.next()) {
        if (receives.isFull()) {
          users.forEach(EmulatedQueuePair::reportPolled);
        }
        receives.post(next);
      }
    } finally {
      receives.posting.release();
      // Done even if a request was refused: the receives before it are posted. As for a queue
      // pair's own receives there is no fence: a queue pair that is missed here looks again when
      // its timer fires.
      if (anyStarved.getOpaque() != 0) {
        feed();
      }
    }
  }

  /**
   * Calls the queue pairs that found this queue empty, in their order, while there are receives.
   */
  private void feed() {
    while (true) {
      TakenReceives next;
      taking.acquire();
      try {
        next = receives.hasNext() ? starved.poll() : null;
        if (next != null) {
          next.starved = false;
        }
        if (starved.isEmpty()) {
          anyStarved.setOpaque(0);
        }
      } finally {
        taking.release();
      }
      if (next == null) {
        return;
      }
      next.user().receivePosted();
    }
  }

  /**
   * Moves the next receive into a queue pair's own ring, which is empty. If there is none, the
   * queue pair is called, in its turn, when one is posted. Called by the taker of {@code own}.
   *
   * @return whether there was a receive; its slot must be {@linkplain #free freed} later
   */
  boolean takeInto(ReceiveRing own, TakenReceives by) {
    boolean low;
    taking.acquire();
    try {
      if (!receives.hasNext()) {
        if (!by.starved) {
          by.starved = true;
          starved.add(by);
          anyStarved.setOpaque(1);
        }
        return false;
      }
      own.takeFrom(receives);
      low = limit > 0 && receives.available() < limit;
      if (low) {
        limit = 0;
      }
    } finally {
      taking.release();
    }
    if (low) {
      domain.device().raise(AsyncEvent.Type.SRQ_LIMIT_REACHED, this);
    }
    return true;
  }

  /** Prefetches the next receive. Called by the taker of {@code own}. */
  void warm(ReceiveRing own) {
    own.warm(receives);
  }

  /** Frees the slots of {@code count} receives that were taken. */
  void free(long count) {
    receives.freeAny(count);
  }

  /** Attaches a queue pair; returns its number for {@link #detach}. */
  synchronized int attach(EmulatedQueuePair user) {
    checkOpen("create queue pair");
    return users.add(user);
  }

  synchronized void detach(int attachment) {
    users.remove(attachment);
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      if (users.size() > 0) {
        throw new VerbsException(
            VerbsError.BUSY, "close shared receive queue: " + users.size() + " queue pairs use it");
      }
      closed = true;
    }
    domain.closed(EmulatedProtectionDomain.Kind.SHARED_RECEIVE_QUEUE);
  }
}
