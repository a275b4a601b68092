// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.verbena.HcaException;
import io.verbena.verbs.Access;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** All registrations of one domain, so that {@link #close} leaves none open. Thread-safe. */
final class Registrations {
  private static final long PAUSE_NANOS = 50_000;

  private final ProtectionDomain domain;
  private final RegistrationLimit limit;
  private final AtomicLong closings = new AtomicLong();

  /** The number of registrations in progress, which the HCA may have made already. */
  private final AtomicInteger underWay = new AtomicInteger();

  private @Nullable Registration first;
  private volatile boolean closed;

  Registrations(ProtectionDomain domain, RegistrationLimit limit) {
    this.domain = domain;
    this.limit = limit;
  }

  /**
   * Registers a buffer's bytes from position to limit.
   *
   * @param operation the operation that needs the bytes, for errors
   * @param charge the bytes that the caller has reserved; returned to the limit if this fails
   * @throws HcaException if the HCA refuses
   * @throws IllegalStateException after {@link #close}
   */
  Registration register(String operation, ByteBuffer bytes, Set<Access> access, long charge) {
    return register(operation, bytes, access, charge, null);
  }

  /**
   * As {@link #register(String, ByteBuffer, Set, long)}, for bytes that were allocated.
   *
   * @param source the direct memory that they were allocated from and return to, also if this
   *     fails; or null
   */
  Registration register(
      String operation,
      ByteBuffer bytes,
      Set<Access> access,
      long charge,
      @Nullable DirectMemory source) {
    underWay.incrementAndGet();
    try {
      if (closed) {
        giveBack(charge, source);
        throw closedAlready(operation);
      }
      return make(operation, bytes, access, charge, source);
    } finally {
      underWay.decrementAndGet();
    }
  }

  private Registration make(
      String operation,
      ByteBuffer bytes,
      Set<Access> access,
      long charge,
      @Nullable DirectMemory source) {
    Registration registration = null;
    try {
      registration = new Registration(this, domain.register(bytes, access), charge, source);
    } catch (VerbsException e) {
      throw new HcaException(
          operation,
          null,
          null,
          "bytes: "
              + bytes.remaining()
              + " (expected: memory that the HCA can register and the user may lock)",
          e);
    } finally {
      if (registration == null) {
        giveBack(charge, source);
      }
    }
    if (!remember(registration)) {
      registration.close();
      throw closedAlready(operation);
    }
    return registration;
  }

  static IllegalStateException closedAlready(String operation) {
    return new IllegalStateException(operation + ": the registered memory was closed");
  }

  private synchronized boolean remember(Registration registration) {
    Registration head = first;
    registration.next = head;
    if (head != null) {
      head.previous = registration;
    }
    first = registration;
    return !closed;
  }

  /** Called by a registration when it is closed. */
  void forget(Registration registration) {
    synchronized (this) {
      Registration before = registration.previous;
      Registration after = registration.next;
      if (before == null) {
        first = after;
      } else {
        before.next = after;
      }
      if (after != null) {
        after.previous = before;
      }
      registration.previous = null;
      registration.next = null;
    }
    closings.incrementAndGet();
    giveBack(registration.charge(), registration.source());
  }

  private void giveBack(long charge, @Nullable DirectMemory source) {
    limit.giveBack(charge);
    if (source != null) {
      source.giveUp(charge);
    }
  }

  /** Returns the number of registrations closed so far. */
  long closings() {
    return closings.get();
  }

  /**
   * Closes all registrations, also those in progress, and makes no more from now on. Idempotent.
   *
   * @throws VerbsException the first of the HCA's refusals, after all other registrations were
   *     closed
   */
  void close() {
    closed = true;
    while (underWay.get() > 0) {
      LockSupport.parkNanos(this, PAUSE_NANOS);
    }
    VerbsException refused = null;
    for (Registration registration : takeOpen()) {
      try {
        registration.close();
      } catch (VerbsException e) {
        if (refused == null) {
          refused = e;
        } else {
          refused.addSuppressed(e);
        }
      }
    }
    if (refused != null) {
      throw refused;
    }
  }

  private synchronized List<Registration> takeOpen() {
    List<Registration> open = new ArrayList<>();
    for (Registration at = first; at != null; at = at.next) {
      open.add(at);
    }
    return open;
  }
}
