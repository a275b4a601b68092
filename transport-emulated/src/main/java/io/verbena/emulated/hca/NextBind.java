// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * The copy of a posted bind of a type 1 window, with the window's next key, for the send queue. The
 * object is reused for each bind; only the posting thread uses it.
 */
public final class NextBind {
  /** Created for the first bind. */
  private @Nullable SendWorkRequest bind;

  private @Nullable EmulatedMemoryWindow window;

  /** Returns a copy of {@code request}, a checked bind, with the window's next key. */
  public SendWorkRequest of(SendWorkRequest request) {
    MemoryRegion region = request.windowRegion();
    if (!(request.window() instanceof EmulatedMemoryWindow ours) || region == null) {
      throw new IllegalArgumentException("not a bind of ours: " + request.opcode());
    }
    SendWorkRequest next = bind;
    if (next == null) {
      next = new SendWorkRequest();
      bind = next;
    }
    window = ours;
    next.id(request.id()).bind(ours, ours.takeKey(), region, request.windowAccess());
    if ((request.flags() & SendWorkRequest.SIGNALED) != 0) {
      next.signaled();
    }
    if ((request.flags() & SendWorkRequest.FENCE) != 0) {
      next.fence();
    }
    next.buffers().copyFrom(request.buffers());
    return next;
  }

  /** Gives the key back to the window after the bind was not posted. */
  public void refused() {
    if (window != null && bind != null) {
      window.giveBackKey(bind.remoteKey());
    }
  }
}
