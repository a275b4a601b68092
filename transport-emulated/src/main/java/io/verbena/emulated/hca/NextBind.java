// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * A bind of a window of type 1, with the key that the window gets: what a program posted, as its
 * send queue keeps it. Used again for each; for whoever posts.
 */
public final class NextBind {
  private final SendWorkRequest bind = new SendWorkRequest();
  private @Nullable EmulatedMemoryWindow window;

  /** The same as {@code request}, which was checked, under the window's next key. */
  public SendWorkRequest of(SendWorkRequest request) {
    MemoryRegion region = request.windowRegion();
    if (!(request.window() instanceof EmulatedMemoryWindow ours) || region == null) {
      throw new IllegalArgumentException("not a bind of ours: " + request.opcode());
    }
    window = ours;
    bind.id(request.id()).bind(ours, ours.takeKey(), region, request.windowAccess());
    if ((request.flags() & SendWorkRequest.SIGNALED) != 0) {
      bind.signaled();
    }
    if ((request.flags() & SendWorkRequest.FENCE) != 0) {
      bind.fence();
    }
    bind.buffers().copyFrom(request.buffers());
    return bind;
  }

  /** It was not posted: the window keeps its key. */
  public void refused() {
    if (window != null) {
      window.giveBackKey(bind.remoteKey());
    }
  }
}
