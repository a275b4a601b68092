// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.iwarp;

import io.verbena.emulated.address.IwarpAddress;
import io.verbena.emulated.cm.ManagedIdentifier;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.iwarp.TcpStream;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.verbs.VerbsException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The connection requests at a port. Requests beyond the backlog of the listener are held, since
 * over TCP a peer does not repeat them. Held requests count as half-open connections, whose number
 * is limited. Callers have entered the fabric.
 */
final class IncomingRequests implements TcpStream.Asked {
  private final IwarpConnectionManager manager;
  private final IwarpAddress at;
  private final @Nullable SharedSecret key;
  private final ArrayDeque<Held> held = new ArrayDeque<>();

  /** Null before the listener is created and after it is closed. */
  private @Nullable IwarpListener listener;

  private record Held(TcpStream stream, MpaFrame request) {}

  /**
   * Creates the requests at an address, without a listener.
   *
   * @param at the listener's address with its options
   * @throws VerbsException {@code INVALID} if the key of the address cannot be read
   */
  IncomingRequests(IwarpConnectionManager manager, IwarpAddress at) {
    this.manager = manager;
    this.at = at;
    key = at.key();
  }

  void start(IwarpListener by) {
    listener = by;
  }

  @Override
  public void requested(TcpStream stream, MpaFrame request) {
    IwarpListener by = listener;
    if (!MpaKeyHandshake.admits(key, request)) {
      stream.reject(MpaKeyHandshake.refusalOf(request));
    } else if (by == null) {
      stream.reject(ManagedIdentifier.NO_DATA);
    } else if (held.isEmpty() && by.reserve()) {
      raise(by, stream, request);
    } else {
      held.add(new Held(stream, request));
    }
  }

  private void raise(IwarpListener by, TcpStream stream, MpaFrame request) {
    MpaKeyHandshake handshake = key == null ? null : MpaKeyHandshake.passive(key, request);
    IwarpConnection.requested(manager, by, stream, request, at, handshake);
  }

  @Override
  public void withdrawn(TcpStream stream) {
    held.removeIf(each -> each.stream() == stream);
  }

  /** Passes held requests to the program while the backlog has room. */
  void passHeld() {
    IwarpListener by = listener;
    while (by != null && stillAsks() && by.reserve()) {
      Held oldest = held.remove();
      raise(by, oldest.stream(), oldest.request());
    }
  }

  /** Drops held requests whose senders no longer wait; returns whether one is left. */
  private boolean stillAsks() {
    Held oldest = held.peek();
    while (oldest != null && !oldest.stream().stillAsks()) {
      held.remove(oldest);
      oldest = held.peek();
    }
    return oldest != null;
  }

  /** Refuses all held requests, since the listener is closed. */
  void refuse() {
    listener = null;
    for (Held each = held.poll(); each != null; each = held.poll()) {
      each.stream().reject(ManagedIdentifier.NO_DATA);
    }
  }
}
