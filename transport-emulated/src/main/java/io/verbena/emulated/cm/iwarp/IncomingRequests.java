// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.iwarp;

import io.verbena.emulated.address.IwarpAddress;
import io.verbena.emulated.cm.ManagedIdentifier;
import io.verbena.emulated.iwarp.TcpStream;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.emulated.lock.LockKey;
import io.verbena.verbs.VerbsException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The requests that come to a port. Those beyond the backlog of its listener are held, since over
 * TCP a peer does not repeat them. They count as half open, whose number is limited. For those who
 * have entered the fabric.
 */
final class IncomingRequests implements TcpStream.Asked {
  private final IwarpConnectionManager manager;
  private final IwarpAddress at;
  private final @Nullable LockKey key;
  private final ArrayDeque<Held> held = new ArrayDeque<>();

  /** Null before and after it listens. */
  private @Nullable IwarpListener listener;

  private record Held(TcpStream stream, MpaFrame request) {}

  /**
   * Requests to an address.
   *
   * @param at the address, with the options of this end
   * @throws VerbsException {@code INVALID} if its key cannot be read
   */
  IncomingRequests(IwarpConnectionManager manager, IwarpAddress at) {
    this.manager = manager;
    this.at = at;
    key = at.key();
  }

  void go(IwarpListener by) {
    listener = by;
  }

  @Override
  public void requested(TcpStream stream, MpaFrame request) {
    IwarpListener by = listener;
    if (!MpaLock.admits(key, request)) {
      stream.reject(MpaLock.refusalOf(request));
    } else if (by == null) {
      stream.reject(ManagedIdentifier.NO_DATA);
    } else if (held.isEmpty() && by.reserve()) {
      raise(by, stream, request);
    } else {
      held.add(new Held(stream, request));
    }
  }

  private void raise(IwarpListener by, TcpStream stream, MpaFrame request) {
    MpaLock lock = key == null ? null : MpaLock.passive(key, request);
    IwarpConnection.requested(manager, by, stream, request, at, lock);
  }

  @Override
  public void withdrawn(TcpStream stream) {
    held.removeIf(each -> each.stream() == stream);
  }

  /** Passes held requests to the program while its backlog has room. */
  void tell() {
    IwarpListener by = listener;
    while (by != null && stillAsks() && by.reserve()) {
      Held oldest = held.remove();
      raise(by, oldest.stream(), oldest.request());
    }
  }

  /** Returns whether there is a request whose sender still waits; drops those before it. */
  private boolean stillAsks() {
    Held oldest = held.peek();
    while (oldest != null && !oldest.stream().stillAsks()) {
      held.remove(oldest);
      oldest = held.peek();
    }
    return oldest != null;
  }

  /** Refuses all held requests: the listener is closed. */
  void refuse() {
    listener = null;
    for (Held each = held.poll(); each != null; each = held.poll()) {
      each.stream().reject(ManagedIdentifier.NO_DATA);
    }
  }
}
