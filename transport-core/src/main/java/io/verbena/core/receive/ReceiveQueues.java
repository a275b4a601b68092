// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.core.loop.DutyCycleEnds;
import io.verbena.core.loop.LinkedPosts;
import io.verbena.verbs.QueuePair;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Shared by the connections of a loop that have receive queues of their own, because the device has
 * no shared ones. If posts are costly, links the receives that a connection posts in a duty cycle.
 * Only on the loop.
 */
public final class ReceiveQueues {
  private final ReceiveFrames source;

  /** Filled and posted for one connection after another. */
  private final LinkedReceives list = new LinkedReceives();

  /** The connections whose receives wait; null if each receive is posted at once. */
  private final @Nullable DutyCycleEnds waiting;

  /**
   * Without connections yet.
   *
   * @param source makes the frames of the receives
   * @param posts the linked posts of the loop, or null if each receive is to be posted at once
   */
  public ReceiveQueues(ReceiveFrames source, @Nullable LinkedPosts posts) {
    this.source = source;
    if (posts == null) {
      waiting = null;
    } else {
      waiting = new DutyCycleEnds();
      posts.beginWith(this::post);
    }
  }

  /**
   * Returns the receives of a connection, of which none is posted yet.
   *
   * @param pair the queue pair that owns the receive queue
   * @param prefix the prefix of the work request ids
   * @param capacity the most receives
   * @param onRefusal called on the loop when the HCA has refused waiting receives; must not throw
   */
  public OwnReceives open(
      QueuePair pair, long prefix, int capacity, Consumer<? super Throwable> onRefusal) {
    return new OwnReceives(this, pair, prefix, capacity, onRefusal);
  }

  ReceiveFrames source() {
    return source;
  }

  LinkedReceives list() {
    return list;
  }

  /**
   * Returns the request for running {@code post} at the end of a duty cycle; null if each receive
   * is posted at once.
   */
  @Nullable DutyCycleEnd end(Runnable post) {
    return waiting == null ? null : new DutyCycleEnd(waiting, post);
  }

  private void post() {
    DutyCycleEnds ends = waiting;
    // A connection that learns of refused receives may cause others to give frames back.
    while (ends != null && !ends.isEmpty()) {
      ends.run();
    }
  }
}
