// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaException;
import io.verbena.core.memory.Exposure;
import io.verbena.core.memory.Location;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.reactor.queue.OneSidedSlots;
import io.verbena.reactor.queue.RequestOwner;
import io.verbena.reactor.queue.SendSlots;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A message in the peer's memory that this end READs when a subscriber has requested it. Only on
 * the loop.
 *
 * <pre>{@code
 * announced -> reading -> read -> delivered
 *   | | ^        |  +---> failed: the connection ends
 *   | v |        +------> given up: skipped once the READs that are posted have ended
 *   | allocating: on another thread, as it takes long
 *   +-> skipped: no subscriber will request it
 * }</pre>
 */
final class RendezvousRead implements RequestOwner {
  private final MessageReceiver receiver;
  private final long remoteAddress;
  private final int remoteKey;
  private @Nullable LargeAllocation allocation;
  private @Nullable ByteBuf buffer;
  private @Nullable Exposure sink;
  private long localAddress;
  private int localKey;
  private int posted;
  private int outstanding;
  private boolean over;
  private boolean givenUp;

  /** The id by which the peer knows it. */
  final int id;

  /** Its length in bytes. */
  final int length;

  /** Its place in the order of all messages. */
  final int position;

  RendezvousRead(
      MessageReceiver receiver,
      int position,
      int id,
      int length,
      int remoteKey,
      long remoteAddress) {
    this.receiver = receiver;
    this.position = position;
    this.id = id;
    this.length = length;
    this.remoteKey = remoteKey;
    this.remoteAddress = remoteAddress;
  }

  boolean isStarted() {
    return buffer != null;
  }

  /** Returns whether its memory is being allocated on another thread. */
  boolean isAllocating() {
    return allocation != null;
  }

  /** Returns whether the peer's memory is no longer needed. */
  boolean isOver() {
    return over;
  }

  /** Returns the message, once it was read; it belongs to the caller. */
  ByteBuf take() {
    ByteBuf message = buffer;
    if (message == null) {
      throw new IllegalStateException("not read");
    }
    buffer = null;
    return message;
  }

  /**
   * Allocates memory to read into.
   *
   * @return false while that is under way on another thread
   * @throws MemoryLimitException at the limit on registered memory
   */
  boolean prepare() {
    LoopResources resources = receiver.resources();
    ByteBuf target = resources.memory().allocateAtOnce(length);
    LargeAllocation underway = allocation;
    if (underway != null && target == null) {
      target = takeFrom(underway);
    } else if (underway != null) {
      allocation = null;
      underway.abandon();
    } else if (target == null) {
      allocate(resources);
    }
    if (target == null) {
      return false;
    }
    Location at = resources.locate(target, 0, length);
    localAddress = at.address();
    localKey = at.lkey();
    Exposure own = sink(target);
    if (own != null) {
      sink = own;
      localAddress = own.address();
      localKey = own.lkey();
    }
    buffer = target;
    return true;
  }

  private @Nullable Exposure sink(ByteBuf target) {
    try {
      return receiver.resources().memory().readSink(target, 0, length);
    } catch (Throwable e) {
      target.release();
      throw e;
    }
  }

  /**
   * Ends the peer's access to the buffer. If the HCA refuses that, the access ends with the
   * connection.
   */
  private void closeSink() {
    Exposure own = sink;
    if (own != null) {
      sink = null;
      try {
        own.close();
      } catch (Throwable thrown) {
        receiver.guard.broke(thrown);
      }
    }
  }

  private void allocate(LoopResources resources) {
    LargeAllocation begun = new LargeAllocation(resources, length, receiver::memoryCame);
    try {
      begun.start();
      allocation = begun;
    } catch (RejectedExecutionException e) {
      // Too many others wait; the next tick tries again.
    }
  }

  private @Nullable ByteBuf takeFrom(LargeAllocation underway) {
    boolean over = true;
    try {
      ByteBuf made = underway.take();
      over = made != null;
      return made;
    } finally {
      if (over) {
        allocation = null;
      }
    }
  }

  /**
   * Posts READs as far as there are slots.
   *
   * @return whether all are posted
   */
  boolean post() {
    OneSidedSlots slots = receiver.slots();
    SendSlots sends = slots.sends();
    while (posted < length) {
      if (!slots.mayPostRead()) {
        return false;
      }
      int count = Math.min(length - posted, slots.longestTransfer());
      sends.post(
          sends
              .request()
              .read(remoteAddress + posted, remoteKey)
              .signaled()
              .buffer(localAddress + posted, count, localKey),
          this);
      posted += count;
      outstanding++;
      slots.readPosted();
    }
    return true;
  }

  /** Gives the message up: it is over as soon as no READ writes into its buffer. */
  void giveUp() {
    givenUp = true;
    if (outstanding == 0) {
      over = true;
      release();
    }
  }

  @Override
  public String operation() {
    return "receive";
  }

  @Override
  public void overdue(RdmaException error) {
    // The end of the connection signals the subscriber.
  }

  @Override
  public void succeeded() {
    receiver.readEnded();
    outstanding--;
    if (outstanding == 0 && (posted == length || givenUp)) {
      over = true;
      ByteBuf message = buffer;
      if (message != null) {
        message.writerIndex(length);
      }
      closeSink();
      receiver.wasRead(this);
    }
  }

  @Override
  public void failed(RdmaException error) {
    receiver.readEnded();
    outstanding--;
    if (outstanding == 0) {
      release();
    }
  }

  /**
   * Releases the buffer, which no READ is writing into. What that throws ends the connection, and
   * does not keep anything else from being released.
   */
  void release() {
    LargeAllocation underway = allocation;
    if (underway != null) {
      allocation = null;
      receiver.guard.guarded(underway::abandon);
    }
    closeSink();
    ByteBuf message = buffer;
    if (message != null) {
      buffer = null;
      receiver.guard.guarded(message::release);
    }
  }
}
