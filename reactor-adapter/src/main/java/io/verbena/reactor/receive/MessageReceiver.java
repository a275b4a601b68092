// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaOptions;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.core.receive.Receives;
import io.verbena.meters.ConnectionMeter;
import io.verbena.reactor.credit.OwedCredits;
import io.verbena.reactor.credit.ReceiveCredits;
import io.verbena.reactor.credit.ReceiveFrameCredits;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.reactor.queue.OneSidedSlots;
import io.verbena.reactor.wire.FrameReader;
import io.verbena.reactor.wire.Handshake;
import io.verbena.reactor.wire.ProtocolException;
import java.util.ArrayDeque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * Receives messages: reads frames, keeps messages until they are requested, READs long ones, and
 * counts the peer's credits. Only on the loop.
 *
 * <p>A frame goes back to the receive queue as soon as it was read. Its messages that were not
 * requested yet keep its memory, and another buffer takes its place. Once such messages hold a
 * quarter as many frames as there are receives, those of mostly empty frames are copied, and those
 * of all frames where registered memory is scarce: a connection without demand takes nothing from
 * the others. While the connections of a loop keep too many copies, a peer with copied messages
 * gets no credits for delivered ones until its copies are delivered, and new connections get few.
 */
public final class MessageReceiver extends DemandQueue<ByteBuf> {
  /** Waiting messages may hold as many frames as there are receives, divided by this. */
  private static final int HELD_SHARE = 4;

  private final LoopResources resources;
  private final CompletionLoop loop;
  private final ReceiveBuffers buffers;
  private final Receives receives;
  private final OneSidedSlots slots;
  private final ConnectionMeter meter;
  private final OwedCredits returns;
  private final ReceiveFrameCredits frames;
  private final ReceiveCredits messages;
  private final int window;
  private final int longest;
  private final int readAhead;
  private final int patience;

  /**
   * The messages that were not delivered yet: {@link ByteBuf} or {@link RendezvousRead}; no longer
   * than the window.
   */
  private final ArrayDeque<Object> queue = new ArrayDeque<>();

  private final ArrayDeque<RendezvousRead> unread = new ArrayDeque<>();
  private final ArrayDeque<RendezvousRead> unfinished = new ArrayDeque<>();
  private long ahead;
  private final int mostHeld;

  /** The number of frames whose memory messages in the queue keep. */
  private int held;

  private final CopiedBytes copies;

  /** Bytes of messages in the queue that were copied. */
  private long copied;

  /**
   * The number of messages that were delivered while too much was copied, and whose credits are
   * withheld.
   */
  private int withheld;

  private boolean waitsForMemory;
  private int waitsSince;

  /**
   * Whether messages of the frame that is being read are copied, as no other frame can take its
   * place.
   */
  private boolean copying;

  /** Whether the frame that is being read is mostly empty. */
  private boolean shortFrame;

  /** Whether messages are slices of the frame that is being read. */
  private boolean sliced;

  private @Nullable ByteBuf unposted;

  private boolean discarding;
  private boolean closeCame;

  /**
   * Creates a receiver whose frames go back to {@code receives}, or are replaced from {@code
   * buffers}.
   *
   * @param returns counts the credits for the peer
   * @param slots for the READs of long messages
   * @param own the handshake that this end sent
   */
  public MessageReceiver(
      ReceiveBuffers buffers,
      Receives receives,
      OwedCredits returns,
      OneSidedSlots slots,
      DutyCycleEnd turn,
      FailureGuard guard,
      ConnectionMeter meter,
      Handshake own,
      RdmaOptions options) {
    super("receive", turn, guard);
    this.buffers = buffers;
    this.receives = receives;
    this.returns = returns;
    this.slots = slots;
    this.meter = meter;
    copies = buffers.copies();
    resources = buffers.resources();
    loop = resources.loop();
    window = own.window();
    longest = own.maxMessageSize();
    readAhead = options.readAhead();
    mostHeld = Math.max(1, own.receiveDepth() / HELD_SHARE);
    patience = loop.ticks(options.operationTimeout().toNanos());
    frames = returns.frames();
    messages = returns.messages();
  }

  // ---- what its READs use

  LoopResources resources() {
    return resources;
  }

  OneSidedSlots slots() {
    return slots;
  }

  /** Counts a READ that ended: another may wait for its slot, or for its place among the READs. */
  void readEnded() {
    slots.readEnded();
    turn.ask();
  }

  // ---- frames

  /**
   * Reads a frame that arrived; takes ownership of it.
   *
   * @param to handles its records
   * @throws ProtocolException if the frame is malformed, or the peer had no credit for it
   */
  public void received(ByteBuf frame, int length, FrameReader.Handler to) {
    sliced = false;
    try {
      countFrame();
      copying = !buffers.hasSpare();
      shortFrame = length < resources.frameCapacity() >> 2;
      FrameReader.read(frame, length, longest, to);
    } catch (Throwable e) {
      if (sliced) {
        frame.release();
      } else {
        receives.giveBack(frame);
      }
      throw e;
    }
    giveBack(frame);
  }

  /**
   * Takes the frame of a receive that a WRITE with immediate data consumed; it has no content.
   *
   * @throws ProtocolException if the peer had no credit for it
   */
  public void notified(ByteBuf frame) {
    sliced = false;
    try {
      countFrame();
    } catch (Throwable e) {
      receives.giveBack(frame);
      throw e;
    }
    giveBack(frame);
  }

  private void countFrame() {
    if (!frames.arrive()) {
      throw ProtocolException.malformed("frames beyond the credits", 1, "0");
    }
  }

  /** Gives back a frame without reading it. */
  public void drop(ByteBuf frame) {
    receives.giveBack(frame);
  }

  /**
   * Takes frame credits that the peer gives back.
   *
   * @throws ProtocolException if it may not give back so many
   */
  public void returned(int count) {
    frames.giveBack(count);
    receives.shrink(count);
  }

  /**
   * Arranges that a frame, or another one for it, is posted again. The frame of the last message is
   * posted only after the answer to it, as the peer waits for that.
   */
  private void giveBack(ByteBuf frame) {
    try {
      repost();
    } finally {
      if (!sliced || resources.memory().reuse(frame)) {
        unposted = frame;
      } else {
        frame.release();
        unposted = buffers.takeSpare();
      }
      turn.ask();
    }
  }

  /** Posts the frame that was kept back, if there is one. */
  public void repost() {
    ByteBuf frame = unposted;
    if (frame == null) {
      return;
    }
    unposted = null;
    if (frames.mayShrink() && receives.hasMoreThanItsPart()) {
      frames.withhold();
      receives.shrink(1);
    } else {
      frames.free();
    }
    receives.giveBack(frame);
    if (frames.reached()) {
      int wanted = frames.wanted();
      if (wanted > 0) {
        frames.grow(receives.grow(wanted));
      }
      turn.ask();
    }
  }

  /** Records a CLOSE, after which the peer sends no more messages. */
  public void closeCame() {
    closeCame = true;
  }

  private void count() {
    if (!messages.arrive() || closeCame) {
      throw ProtocolException.malformed(
          "messages on their way", window + 1L, closeCame ? "none behind a CLOSE" : "<= " + window);
    }
  }

  /** Delivers or keeps a message of a frame, as a slice of it or as a copy. */
  public void message(ByteBuf frame, int start, int length) {
    count();
    if (discarding) {
      messages.free();
      return;
    }
    meter.received(length);
    DemandSubscription<ByteBuf> to = subscriber;
    boolean waits = to == null || delivering || !queue.isEmpty() || to.demand() <= 0;
    ByteBuf message;
    if (copying || (waits && holdsTooMuch())) {
      message = UnpooledByteBufAllocator.DEFAULT.heapBuffer(length, length);
      message.writeBytes(frame, start, length);
    } else {
      message = frame.retainedSlice(start, length);
      sliced = true;
    }
    if (to == null || waits) {
      keep(message);
      return;
    }
    delivering = true;
    messages.free();
    try {
      to.next(message);
    } finally {
      delivering = false;
    }
  }

  /**
   * Returns whether a message that waits must be copied, as it would be the first to hold its frame
   * and too many are held.
   */
  private boolean holdsTooMuch() {
    return held >= mostHeld && !sliced && (shortFrame || resources.memory().isScarce());
  }

  private void keep(ByteBuf message) {
    ByteBuf frame = message.unwrap();
    if (frame == null) {
      copied += message.capacity();
      copies.add(message.capacity());
    } else if (!isPartOf(frame, queue.peekLast())) {
      held++;
    }
    queue.add(message);
  }

  /**
   * Subtracts a message that left the queue from the copied bytes, or its frame from the frames
   * held. Messages of a frame follow each other in the queue: the last of them subtracts the frame.
   */
  private void uncount(ByteBuf message) {
    ByteBuf frame = message.unwrap();
    if (frame == null) {
      forgetCopy(message);
    } else if (!isPartOf(frame, queue.peek())) {
      held--;
    }
  }

  /** Subtracts a message that left the queue, if it is a copy. */
  private void forgetCopy(ByteBuf message) {
    if (message.unwrap() == null) {
      copied -= message.capacity();
      copies.remove(message.capacity());
    }
  }

  /** Grants the peer another message, now or when its copies are delivered. */
  private void freeMessage() {
    if (copied > 0 && copies.isFull()) {
      withheld++;
      return;
    }
    messages.free();
    for (; withheld > 0; withheld--) {
      messages.free();
    }
  }

  @SuppressWarnings("ReferenceEquality") // The same frame, not one of the same bytes.
  private static boolean isPartOf(ByteBuf frame, @Nullable Object neighbour) {
    return neighbour instanceof ByteBuf message && message.unwrap() == frame;
  }

  /** Takes the announcement of a message in the peer's memory. */
  public void rendezvous(int length, int id, int key, long address) {
    int position = messages.arrived();
    count();
    RendezvousRead read = new RendezvousRead(this, position, id, length, key, address);
    unfinished.add(read);
    if (discarding) {
      messages.free();
      read.giveUp();
      finishReads();
    } else {
      queue.add(read);
      unread.add(read);
    }
  }

  // ---- long messages

  /** Posts READs of requested messages, as far as slots, memory and read-ahead allow. */
  public void endDutyCycle() {
    while (!unread.isEmpty()) {
      RendezvousRead next = unread.peek();
      try {
        if (!next.isStarted()) {
          if (!isDue(next)) {
            // Its subscriber may have cancelled while it waited for memory.
            stopWaiting();
            return;
          }
          if (!next.prepare()) {
            waitForMemory();
            return;
          }
          boolean all = next.post();
          ahead += next.length;
          stopWaiting();
          if (!all) {
            return;
          }
        } else if (!next.post()) {
          return;
        }
      } catch (MemoryLimitException e) {
        waitForMemory();
        return;
      }
      unread.remove();
    }
  }

  /**
   * Returns whether a long message waits to be read: for demand, for memory, or for a slot that
   * comes free.
   */
  public boolean hasUnreadMessage() {
    return !unread.isEmpty();
  }

  /** Returns whether a long message waits for a slot, and no READ is in flight. */
  public boolean isStarved() {
    RendezvousRead next = unread.peek();
    return next != null && next.isStarted() && !slots.isReading();
  }

  private void waitForMemory() {
    if (!waitsForMemory) {
      waitsForMemory = true;
      waitsSince = loop.tick();
      loop.pending(1);
    }
  }

  /** Called when an allocation has ended, with or without memory. */
  void memoryCame() {
    turn.ask();
  }

  private void stopWaiting() {
    if (waitsForMemory) {
      waitsForMemory = false;
      loop.pending(-1);
    }
  }

  private boolean isDue(RendezvousRead read) {
    DemandSubscription<ByteBuf> to = subscriber;
    if (to == null) {
      return false;
    }
    int inFront = read.position - (messages.arrived() - messages.held(window) + withheld);
    return inFront < to.demand() && (queue.peek() == read || ahead + read.length <= readAhead);
  }

  /** Handles a long message that was read. */
  void wasRead(RendezvousRead read) {
    if (discarding) {
      read.release();
    } else {
      meter.received(read.length);
    }
    finishReads();
    drain();
  }

  /**
   * Counts long messages as done, in the order in which they were announced: the last id covers
   * all.
   */
  private void finishReads() {
    RendezvousRead first = unfinished.peek();
    while (first != null && first.isOver()) {
      returns.done(first.id);
      unfinished.remove();
      first = unfinished.peek();
    }
    turn.ask();
  }

  // ---- the subscriber

  @Override
  void drain() {
    if (delivering) {
      return;
    }
    delivering = true;
    try {
      DemandSubscription<ByteBuf> to = subscriber;
      while (to != null && !queue.isEmpty() && to.demand() > 0) {
        Object head = queue.peek();
        ByteBuf message;
        if (head instanceof RendezvousRead read) {
          if (!read.isOver()) {
            break;
          }
          ahead -= read.length;
          message = read.take();
          queue.remove();
        } else {
          message = (ByteBuf) head;
          queue.remove();
          uncount(message);
        }
        freeMessage();
        to.next(message);
        to = subscriber;
      }
    } finally {
      delivering = false;
    }
    endIfDelivered();
    turn.ask();
  }

  /** Returns whether there is a subscriber. */
  public boolean hasSubscriber() {
    return subscriber != null;
  }

  @Override
  public boolean isEmpty() {
    return queue.isEmpty();
  }

  // ---- end

  /** Posts no more receives. */
  public void halt() {
    receives.halt();
  }

  /** Releases undelivered messages, and drops those that arrive from now on. */
  public void discard() {
    if (discarding) {
      return;
    }
    discarding = true;
    for (Object each : queue) {
      messages.free();
      if (each instanceof ByteBuf message) {
        forgetCopy(message);
        guard.guarded(message::release);
      } else if (each instanceof RendezvousRead read) {
        read.giveUp();
      }
    }
    queue.clear();
    for (; withheld > 0; withheld--) {
      messages.free();
    }
    held = 0;
    unread.clear();
    stopWaiting();
    ahead = 0;
    finishReads();
    endIfDelivered();
  }

  /** Keeps undelivered messages for a subscriber; if there is none, for so many ticks. */
  public void keepUndelivered(int ticks) {
    if (!isEmpty()) {
      loop.addTickListener(new UndeliveredMessages(this, ticks));
    }
  }

  /** Frees long messages that were not read, once the queue pair is destroyed. */
  public void free() {
    stopWaiting();
    ByteBuf frame = unposted;
    if (frame != null) {
      unposted = null;
      guard.guarded(() -> receives.giveBack(frame));
    }
    loseFromFirstUnread();
    unread.clear();
    unfinished.clear();
  }

  /** Drops the first unread long message and what comes behind it: a subscriber sees no gap. */
  private void loseFromFirstUnread() {
    boolean lost = false;
    for (Iterator<Object> each = queue.iterator(); each.hasNext(); ) {
      Object next = each.next();
      lost |= next instanceof RendezvousRead read && !read.isOver();
      if (lost) {
        each.remove();
        if (next instanceof ByteBuf message) {
          forgetCopy(message);
          guard.guarded(message::release);
        } else if (next instanceof RendezvousRead read) {
          read.release();
        }
      }
    }
  }

  /** Returns whether memory that a long message waits for is being allocated. */
  public boolean isAllocating() {
    RendezvousRead next = unread.peek();
    return next != null && next.isAllocating();
  }

  /**
   * Tries again to get memory, on a tick; returns whether a long message has waited too long for
   * it.
   */
  public boolean isOutOfMemory() {
    if (!waitsForMemory) {
      return false;
    }
    turn.ask();
    return loop.tick() - waitsSince > patience;
  }
}
