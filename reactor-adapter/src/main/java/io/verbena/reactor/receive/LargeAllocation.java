// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.netty.buffer.ByteBuf;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.reactor.queue.LoopResources;
import org.jspecify.annotations.Nullable;

/**
 * Allocates a long buffer on another thread, as the loop would serve no connection while all bytes
 * are zeroed and registered. The result goes to the loop; it is released if the allocation was
 * abandoned.
 */
final class LargeAllocation implements Runnable {
  private final LoopResources resources;
  private final int length;
  private final Runnable onEnd;

  // Only on the loop.
  private boolean abandoned;
  private @Nullable ByteBuf buffer;
  private @Nullable Throwable failure;

  /**
   * Prepares an allocation; {@link #start} starts it.
   *
   * @param onEnd called on the loop when the allocation has ended, unless it was abandoned
   */
  LargeAllocation(LoopResources resources, int length, Runnable onEnd) {
    this.resources = resources;
    this.length = length;
    this.onEnd = onEnd;
  }

  /**
   * Starts to allocate.
   *
   * @throws java.util.concurrent.RejectedExecutionException if too many others wait
   */
  void start() {
    resources.allocations().execute(this);
  }

  @Override
  public void run() {
    CompletionLoop loop = resources.loop();
    try {
      ByteBuf made = resources.memory().allocator().directBuffer(length, length);
      loop.execute(() -> end(made, null));
    } catch (Throwable e) {
      loop.execute(() -> end(null, e));
    }
  }

  private void end(@Nullable ByteBuf made, @Nullable Throwable why) {
    if (!abandoned) {
      buffer = made;
      failure = why;
      onEnd.run();
    } else if (made != null) {
      made.release();
    }
  }

  /**
   * Takes the buffer, which belongs to the caller; returns null if it is not there yet.
   *
   * @throws io.verbena.MemoryLimitException at the limit on registered memory
   */
  @Nullable ByteBuf take() {
    Throwable why = failure;
    if (why instanceof RuntimeException exception) {
      throw exception;
    }
    if (why instanceof Error error) {
      throw error;
    }
    ByteBuf made = buffer;
    buffer = null;
    return made;
  }

  /** Releases the buffer, now or when the allocation ends. */
  void abandon() {
    abandoned = true;
    ByteBuf made = buffer;
    if (made != null) {
      buffer = null;
      made.release();
    }
  }
}
