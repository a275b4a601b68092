package io.verbena.reactor.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaOptions;
import io.verbena.reactor.wire.FrameReader;
import io.verbena.reactor.wire.Handshake;
import io.verbena.reactor.wire.ProtocolException;
import java.util.ArrayDeque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * What comes from the peer in frames: reads them, keeps messages until they are asked for, pulls
 * long ones, and counts what the peer may send. A frame goes back to the receive queue as soon as
 * it was read; messages of it that nobody asked for yet keep its memory and another takes its
 * place.
 */
final class Inbound implements DemandSource<ByteBuf>, FrameReader.Handler {
  private final Connection connection;
  private final Workbench bench;
  private final ReceiveQueue receives;
  private final Immediates immediates;
  private final Grant frames;
  private final Grant messages;
  private final int window;
  private final int longest;
  private final int readAhead;
  private final int patience;

  /** What was not delivered yet: {@link ByteBuf} or {@link Pull}; no longer than the window. */
  private final ArrayDeque<Object> queue = new ArrayDeque<>();

  private final ArrayDeque<Pull> unread = new ArrayDeque<>();
  private final ArrayDeque<Pull> unfinished = new ArrayDeque<>();
  private @Nullable DemandSubscription<ByteBuf> subscriber;
  private long ahead;
  private int doneId;
  private boolean donePending;
  private boolean waitsForMemory;
  private int waitsSince;

  /**
   * Whether messages of the frame that is being read are copied, as no other can take its place.
   */
  private boolean copying;

  /** Whether parts of the frame that is being read were handed on. */
  private boolean sliced;

  private @Nullable ByteBuf unposted;

  private boolean delivering;
  private boolean discarding;
  private boolean ended;
  private @Nullable Throwable error;
  private boolean closeCame;

  Inbound(
      Connection connection,
      Workbench bench,
      ReceiveQueue receives,
      Immediates immediates,
      Handshake own,
      RdmaOptions options) {
    this.connection = connection;
    this.bench = bench;
    this.receives = receives;
    this.immediates = immediates;
    window = own.window();
    longest = own.maxMessageSize();
    readAhead = options.readAhead();
    patience = bench.loop().ticks(options.operationTimeout().toNanos());
    frames = new Grant(own.receiveDepth(), Math.max(2, own.receiveDepth() / 4));
    messages = new Grant(window, Math.max(1, window / 4));
  }

  // ---- grants, for the headers of frames to the peer

  int announceFrames() {
    return frames.announce();
  }

  int announceMessages() {
    return messages.announce();
  }

  boolean framesReached() {
    return frames.reached();
  }

  boolean messagesDue() {
    return messages.due();
  }

  boolean isDonePending() {
    return donePending;
  }

  /** The id of the last message that was read, to tell the peer. */
  int takeDone() {
    donePending = false;
    return doneId;
  }

  // ---- frames

  /**
   * A frame arrived.
   *
   * @throws ProtocolException if it is none
   */
  void received(int sequence, int length) {
    ByteBuf frame = receives.take(sequence);
    sliced = false;
    try {
      copying = !bench.hasSpare();
      FrameReader.read(frame, length, longest, this);
    } catch (Throwable e) {
      frame.release();
      throw e;
    }
    giveBack(frame);
  }

  /** A receive was taken by an immediate, and nothing written into it. */
  void notified(int sequence) {
    sliced = false;
    giveBack(receives.take(sequence));
  }

  /**
   * Sees to it that a frame, or another for it, is posted again: that of the last message not
   * before the answer to it is on its way, which is what the peer waits for.
   */
  private void giveBack(ByteBuf frame) {
    repost();
    if (!connection.isPosting()) {
      frames.free();
      frame.release();
    } else if (!sliced) {
      unposted = frame;
    } else {
      frame.release();
      unposted = bench.takeSpare();
    }
    connection.endTurnLater();
  }

  /** Posts the frame that was kept back, if there is one; at the end of a turn. */
  void repost() {
    ByteBuf frame = unposted;
    if (frame == null) {
      return;
    }
    unposted = null;
    frames.free();
    if (!connection.isPosting()) {
      frame.release();
      return;
    }
    receives.post(frame);
    if (frames.reached()) {
      connection.endTurnLater();
    }
  }

  @Override
  public void granted(int newFrames, int newMessages, int newImmediates) {
    connection.outbound().granted(newFrames, newMessages, newImmediates);
  }

  @Override
  public void done(int id) {
    connection.outbound().done(id);
  }

  @Override
  public void closing() {
    closeCame = true;
    connection.peerCloses();
  }

  @Override
  public void immediate(int value, int length) {
    immediates.arrived(value, length);
  }

  private void count() {
    if (!messages.arrive() || closeCame) {
      throw ProtocolException.malformed(
          "messages on their way", window + 1L, closeCame ? "none behind a CLOSE" : "<= " + window);
    }
  }

  @Override
  public void message(ByteBuf frame, int start, int length) {
    count();
    if (discarding) {
      messages.free();
      return;
    }
    connection.meter().received(length);
    ByteBuf message;
    if (copying) {
      message = UnpooledByteBufAllocator.DEFAULT.heapBuffer(length, length);
      message.writeBytes(frame, start, length);
    } else {
      message = frame.retainedSlice(start, length);
      sliced = true;
    }
    DemandSubscription<ByteBuf> to = subscriber;
    if (to == null || delivering || !queue.isEmpty() || to.demand() <= 0) {
      queue.add(message);
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

  @Override
  public void rendezvous(int length, int id, int key, long address) {
    int position = messages.arrived();
    count();
    Pull pull = new Pull(this, connection, position, id, length, key, address);
    unfinished.add(pull);
    if (discarding) {
      messages.free();
      pull.skip();
      finishPulls();
    } else {
      queue.add(pull);
      unread.add(pull);
    }
  }

  // ---- long messages

  /** Posts READs for what was asked for, as far as slots, memory and read-ahead go. */
  void endTurn() {
    while (!unread.isEmpty()) {
      Pull next = unread.peek();
      try {
        if (!next.isStarted()) {
          if (!isDue(next)) {
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
        if (!waitsForMemory) {
          waitsForMemory = true;
          waitsSince = bench.loop().tick();
          bench.loop().pending(1);
        }
        return;
      }
      unread.remove();
    }
  }

  /**
   * Whether a long message waits to be read: for demand, for memory, or for a slot that comes free.
   */
  boolean hasUnreadMessage() {
    return !unread.isEmpty();
  }

  private void stopWaiting() {
    if (waitsForMemory) {
      waitsForMemory = false;
      bench.loop().pending(-1);
    }
  }

  private boolean isDue(Pull pull) {
    DemandSubscription<ByteBuf> to = subscriber;
    if (to == null) {
      return false;
    }
    int inFront = pull.position - (messages.arrived() - messages.held(window));
    return inFront < to.demand() && (queue.peek() == pull || ahead + pull.length <= readAhead);
  }

  /** A message was read. */
  void pulled(Pull pull) {
    if (discarding) {
      pull.release();
    } else {
      connection.meter().received(pull.length);
    }
    finishPulls();
    drain();
  }

  /** Pulls end in the order in which they were announced, so the last id tells all. */
  private void finishPulls() {
    Pull first = unfinished.peek();
    while (first != null && first.isOver()) {
      doneId = first.id;
      donePending = true;
      unfinished.remove();
      first = unfinished.peek();
    }
    connection.endTurnLater();
  }

  // ---- the subscriber

  @Override
  public void attach(DemandSubscription<ByteBuf> subscription) {
    if (subscriber != null) {
      subscription.fail(
          new IllegalStateException("receive: it has a subscriber (expected: one at a time)"));
      return;
    }
    subscriber = subscription;
    drain();
  }

  @Override
  public void detach(DemandSubscription<ByteBuf> subscription) {
    if (subscriber == subscription) {
      subscriber = null;
      connection.endTurnLater();
    }
  }

  @Override
  public void broke(Throwable thrown) {
    connection.broke(thrown);
  }

  @Override
  public void drain() {
    if (delivering) {
      return;
    }
    delivering = true;
    try {
      DemandSubscription<ByteBuf> to = subscriber;
      while (to != null && !queue.isEmpty() && to.demand() > 0) {
        Object head = queue.peek();
        ByteBuf message;
        if (head instanceof Pull pull) {
          if (!pull.isOver()) {
            break;
          }
          ahead -= pull.length;
          message = pull.take();
        } else {
          message = (ByteBuf) head;
        }
        queue.remove();
        messages.free();
        to.next(message);
        to = subscriber;
      }
    } finally {
      delivering = false;
    }
    endIfDelivered();
    connection.endTurnLater();
  }

  boolean hasSubscriber() {
    return subscriber != null;
  }

  /** Whether nothing is left that a subscriber could get. */
  boolean isEmpty() {
    return queue.isEmpty();
  }

  // ---- end

  /** The peer sends no more messages, or this end wants none. */
  void end(@Nullable Throwable why) {
    if (!ended) {
      ended = true;
      error = why;
    }
    endIfDelivered();
  }

  private void endIfDelivered() {
    DemandSubscription<ByteBuf> to = subscriber;
    if (!ended || delivering || !queue.isEmpty() || to == null) {
      return;
    }
    subscriber = null;
    Throwable why = error;
    if (why == null) {
      to.complete();
    } else {
      to.fail(why);
    }
  }

  /** Releases what was not delivered, and all that may still come. */
  void discard() {
    if (discarding) {
      return;
    }
    discarding = true;
    for (Object each : queue) {
      messages.free();
      if (each instanceof ByteBuf message) {
        message.release();
      } else if (each instanceof Pull pull) {
        if (pull.isOver()) {
          pull.release();
        } else if (!pull.isReading()) {
          pull.release();
          pull.skip();
        }
      }
    }
    queue.clear();
    unread.clear();
    ahead = 0;
    finishPulls();
    endIfDelivered();
  }

  /** Frees long messages that were not read, once the queue pair is gone. */
  void free() {
    stopWaiting();
    ByteBuf frame = unposted;
    if (frame != null) {
      unposted = null;
      frame.release();
    }
    loseFromFirstUnread();
    unread.clear();
    unfinished.clear();
  }

  /** What comes behind a message that is lost is lost too: a subscriber sees no gap. */
  private void loseFromFirstUnread() {
    boolean lost = false;
    for (Iterator<Object> each = queue.iterator(); each.hasNext(); ) {
      Object next = each.next();
      lost |= next instanceof Pull pull && !pull.isOver();
      if (lost) {
        each.remove();
        if (next instanceof ByteBuf message) {
          message.release();
        } else if (next instanceof Pull pull) {
          pull.release();
        }
      }
    }
  }

  /** The coarse clock went on; answers whether it has waited for memory for too long. */
  boolean isOutOfMemory() {
    if (!waitsForMemory) {
      return false;
    }
    connection.endTurnLater();
    return bench.loop().tick() - waitsSince > patience;
  }
}
