// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;

import io.netty.util.NettyRuntime;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.core.loop.CompletionQueues;
import io.verbena.core.loop.LinkedPosts;
import io.verbena.core.loop.QueueMember;
import io.verbena.core.receive.OwnReceives;
import io.verbena.core.receive.ReceiveFrames;
import io.verbena.core.receive.ReceivePool;
import io.verbena.core.receive.ReceiveQueues;
import io.verbena.core.receive.ReceiveShare;
import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.VerbsException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The receives of a loop's streams: one pool for all if the device has shared receive queues, else
 * a queue for each stream. On the event loop's thread only.
 */
final class LoopReceives {
  private static final int FIRST = 4;

  private final ReceiveFrames frames;
  private final @Nullable ReceivePool pool;
  private final @Nullable ReceiveQueues queues;

  /**
   * Creates the pool or the queues, without receives.
   *
   * @param posts of the loop; null if each receive is to be posted at once
   */
  LoopReceives(
      SharedHca hca, CompletionQueues<QueueMember> completions, @Nullable LinkedPosts posts) {
    RdmaOptions options = hca.options();
    DeviceAttributes device = hca.device().attributes();
    boolean trails = !device.supports(Capability.SEND_WITH_IMMEDIATE);
    int capacity = options.eagerSize() + (trails ? ControlTrailers.LENGTH : 0);
    frames = new ReceiveFrames(hca.memory(), capacity);
    // The number of loops that share the memory is not known: they are created one by one.
    int loops = NettyRuntime.availableProcessors();
    int bound = ReceivePool.bound(device, options, loops, capacity, first(options));
    pool =
        bound == 0
            ? null
            : new ReceivePool(
                completions,
                hca.domain(),
                frames,
                bound,
                first(options),
                System::nanoTime,
                posts,
                hca.meter(),
                hca.closeFirst());
    queues = pool == null ? new ReceiveQueues(frames, posts) : null;
  }

  /** Returns the number of receives that a peer is granted at all times. */
  static int first(RdmaOptions options) {
    return Math.min(FIRST, options.receiveDepth());
  }

  /** Returns the frames that streams receive into. */
  ReceiveFrames frames() {
    return frames;
  }

  /**
   * Returns a new stream's share of the pool, or null where each has receives of its own.
   *
   * @throws VerbsException if the HCA has no resources left
   * @throws RdmaException if there is no memory for its first receives
   */
  @Nullable ReceiveShare join() {
    return pool == null ? null : pool.join();
  }

  /**
   * Returns the receives of a new stream, where each has its own.
   *
   * @param prefix of the work request ids
   * @param most the most receives that the stream may have
   * @param onRefusal called when the HCA has refused a linked list of receives
   */
  OwnReceives open(QueuePair pair, long prefix, int most, Consumer<Throwable> onRefusal) {
    return requireNonNull(queues, "receives are shared").open(pair, prefix, most, onRefusal);
  }
}
