// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * A bind of a window of type 1, with the key that the window gets: the copy of a posted bind for
 * the send queue. Reused for each; for the posting thread.
 */
public final class NextBind {
  /** Created for the first bind. */
  private @Nullable SendWorkRequest bind;

  private @Nullable EmulatedMemoryWindow window;

  /** Returns the bind of {@code request}, which was checked, with the window's next key. */
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

  /** Gives the key back to the window: the bind was not posted. */
  public void refused() {
    if (window != null && bind != null) {
      window.giveBackKey(bind.remoteKey());
    }
  }
}
