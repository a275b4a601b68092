package io.verbena.reactor.connection;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaOptions;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.memory.Location;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.meters.HcaMeter;
import io.verbena.reactor.wire.FrameLayout;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * What the connections of one loop share: work requests to fill, frames to send, and a spare frame
 * to receive into. For the loop's thread alone.
 */
public final class Workbench {
  private static final int MOST_IDLE_FRAMES = 64;

  private final CompletionLoop loop;
  private final RegisteredMemory memory;
  private final HcaMeter meter;
  private final int frameCapacity;
  private final SendWorkRequest send = new SendWorkRequest(2);
  private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
  private final Location location = new Location();
  private final ArrayDeque<OutFrame> idle = new ArrayDeque<>(MOST_IDLE_FRAMES);
  private @Nullable ByteBuf spare;

  /** A workbench for {@code loop}, cleared away when the loop ends. */
  public Workbench(
      CompletionLoop loop, RegisteredMemory memory, RdmaOptions options, HcaMeter meter) {
    this.loop = loop;
    this.memory = memory;
    this.meter = meter;
    frameCapacity = FrameLayout.capacity(options.eagerSize());
    loop.atEnd(this::clear);
  }

  /** Its loop. */
  public CompletionLoop loop() {
    return loop;
  }

  /** Who is told what happens on its device. */
  public HcaMeter meter() {
    return meter;
  }

  RegisteredMemory memory() {
    return memory;
  }

  SendWorkRequest send() {
    return send;
  }

  Location location() {
    return location;
  }

  /** Where registered bytes lie; they must be of our allocator. */
  Location locate(ByteBuf buffer, int index, int length) {
    if (!memory.locate(buffer, index, length, location)) {
      throw new IllegalStateException("not in registered memory: " + buffer);
    }
    return location;
  }

  /** A receive for a frame. */
  ReceiveWorkRequest receive(ByteBuf frame, long id) {
    Location at = locate(frame, 0, frameCapacity);
    return receive.id(id).buffer(at.address(), frameCapacity, at.lkey());
  }

  /**
   * A frame to receive into.
   *
   * @throws MemoryLimitException at the ceiling
   */
  ByteBuf newFrame() {
    return memory.allocator().directBuffer(frameCapacity, frameCapacity);
  }

  /** Sees to it that there is a spare frame; answers false at the ceiling. */
  boolean hasSpare() {
    if (spare == null) {
      try {
        spare = newFrame();
      } catch (MemoryLimitException e) {
        return false;
      }
    }
    return true;
  }

  /** Takes the spare frame. */
  ByteBuf takeSpare() {
    ByteBuf frame = spare;
    if (frame == null) {
      throw new IllegalStateException("no spare frame");
    }
    spare = null;
    return frame;
  }

  /**
   * A frame to send, the one used last if there is one.
   *
   * @throws MemoryLimitException at the ceiling
   */
  OutFrame takeFrame() {
    OutFrame frame = idle.pollLast();
    if (frame == null) {
      ByteBuf buffer = newFrame();
      frame = new OutFrame(buffer, locate(buffer, 0, frameCapacity));
    }
    return frame;
  }

  /** Takes back a frame that the HCA has let go. */
  void giveBack(OutFrame frame) {
    if (idle.size() < MOST_IDLE_FRAMES) {
      idle.addLast(frame);
    } else {
      frame.buffer.release();
    }
  }

  private void clear() {
    for (OutFrame frame : idle) {
      frame.buffer.release();
    }
    idle.clear();
    ByteBuf frame = spare;
    if (frame != null) {
      spare = null;
      frame.release();
    }
  }
}
