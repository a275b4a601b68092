// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.core.loop.DutyCycleEnds;
import io.verbena.core.loop.LinkedPosts;
import io.verbena.verbs.QueuePair;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What the connections of a loop share that have receives of their own, as the device has no shared
 * receive queues. Where posts have a price, the receives that a connection posts in a duty cycle
 * are linked. Only on the loop.
 */
public final class ReceiveQueues {
  private final ReceiveFrames source;

  /** Filled and posted for one connection after the other. */
  private final LinkedReceives list = new LinkedReceives();

  /** The connections whose receives wait; null where each receive is posted at once. */
  private final @Nullable DutyCycleEnds waiting;

  /**
   * Queues of nobody yet.
   *
   * @param source makes the frames of the receives
   * @param posts of the loop, or null if each receive is to be posted at once
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
   * @param pair whose receive queue it is
   * @param prefix the work request ids begin with it
   * @param capacity the most receives
   * @param onRefusal called on the loop when the HCA has refused receives that waited; must not
   *     throw
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

  /** Returns what posts the receives of a connection that wait; null if none ever do. */
  @Nullable DutyCycleEnd end(Runnable post) {
    return waiting == null ? null : new DutyCycleEnd(waiting, post);
  }

  private void post() {
    DutyCycleEnds ends = waiting;
    // Who is told that its receives were refused may have those of others given back.
    while (ends != null && !ends.isEmpty()) {
      ends.run();
    }
  }
}
