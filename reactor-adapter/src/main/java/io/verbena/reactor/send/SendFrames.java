// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.reactor.queue.LoopResources;
import java.util.ArrayDeque;

/** The idle frames of one loop, for whichever of its connections sends next. Only on the loop. */
public final class SendFrames {
  private static final int MOST_IDLE = 64;

  private final LoopResources resources;
  private final ArrayDeque<SendFrame> idle = new ArrayDeque<>(MOST_IDLE);

  /**
   * Creates the cache of frames in the registered memory of {@code resources}; they are released
   * when the loop ends.
   */
  public SendFrames(LoopResources resources) {
    this.resources = resources;
    resources.loop().atEnd(this::clear);
  }

  /** Returns the other shared resources of the loop's connections. */
  LoopResources resources() {
    return resources;
  }

  /**
   * Returns a frame to send: the idle one that was used last, or a new one.
   *
   * @throws MemoryLimitException at the limit on registered memory
   */
  SendFrame take() {
    SendFrame frame = idle.pollLast();
    if (frame == null) {
      ByteBuf buffer = resources.newFrame();
      frame = new SendFrame(buffer, resources.locate(buffer, 0, resources.frameCapacity()));
    }
    return frame;
  }

  /** Takes back a frame that the HCA has released. */
  void giveBack(SendFrame frame) {
    if (idle.size() < MOST_IDLE) {
      idle.addLast(frame);
    } else {
      frame.buffer.release();
    }
  }

  private void clear() {
    for (SendFrame frame : idle) {
      frame.buffer.release();
    }
    idle.clear();
  }
}
