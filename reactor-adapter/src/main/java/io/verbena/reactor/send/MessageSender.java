// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import io.verbena.HcaException;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaException;
import io.verbena.core.event.ConnectionRecorder;
import io.verbena.core.loop.Awaited;
import io.verbena.core.loop.AwaitedVisitor;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.core.memory.Exposure;
import io.verbena.core.memory.Location;
import io.verbena.meters.ConnectionMeter;
import io.verbena.meters.Credit;
import io.verbena.reactor.credit.CreditShares;
import io.verbena.reactor.credit.OwedCredits;
import io.verbena.reactor.credit.SendCredits;
import io.verbena.reactor.credit.SendFrameCredits;
import io.verbena.reactor.guard.Admission;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.reactor.queue.SendSlots;
import io.verbena.reactor.wire.FrameLayout;
import io.verbena.reactor.wire.Handshake;
import io.verbena.reactor.wire.RecordLayout;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsException;
import java.time.Duration;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * Sends messages, notices, credits and the CLOSE to the peer, in frames. Three independent counts
 * limit it: slots of the send queue, frame credits (the peer's receives) and message credits (the
 * peer's demand, which {@link CreditShares} shares among the sends). Only on the loop, unless a
 * method says otherwise.
 *
 * <p><b>Why frame credits cannot run out for good.</b> The share of an end is the number of credits
 * that it has or is owed. It is 4 or more at all times, as the end begins with so many, gives back
 * none of them, and its peer takes none of them back. Frames with data leave the last two credits
 * alone. So do all other frames, except those that return at least {@code T >= 2} credits, where
 * {@code T = max(2, share / 4)}; such a frame is sent as soon as T credits are to be returned and
 * one credit is left. Suppose that all frames have arrived, nothing more is sent, and an end A has
 * two credits or less. Then B owes A at least {@code share - 2 >= T}, whatever that share is by
 * now. B sends nothing only if it has no credit at all; then A owes B its whole share, which is at
 * least T, so that A must have no credit either. Consider the last frame of all, sent by A, say. It
 * left A with less than two credits, so it returned T or more to B, and B has sent nothing since: B
 * has credits, a contradiction. Frames that return credits do not breed each other: each costs one
 * and returns two or more. A frame that gives credits back to the peer leaves as many as the first
 * grant was, and is not sent again before more were granted.
 */
public final class MessageSender {
  /** Frame credits that are left for returning credits. */
  static final int RESERVED_FRAMES = 2;

  /**
   * The size in bytes from which it is cheaper to have the HCA gather a message than to copy it.
   */
  private static final int GATHER_FROM = 1024;

  private final LoopResources resources;
  private final CompletionLoop loop;
  private final FramesInFlight flying;
  private final SendSlots sends;
  private final OwedCredits returns;
  private final DutyCycleEnd turn;
  private final FailureGuard guard;
  private final Admission admission;
  private final ConnectionMeter meter;
  private final ConnectionRecorder events;
  private final SendFrameCredits frames;
  private final CreditShares<SendOperation> shares;
  private final SendCredits notices;
  private final int eagerLimit;
  private final int dataLimit;
  private final int longest;
  private final boolean isLongestOwn;
  private final boolean gathers;
  private final int signalEvery;

  private final ArrayDeque<WriteNotice> waitingNotices = new ArrayDeque<>(1);
  private final RendezvousSources exposed;
  private final PendingClose pendingClose = new PendingClose();
  private @Nullable SendFrame open;
  private int unsignaled;
  private boolean halted;
  private boolean stuck;
  private int stuckSince;
  private boolean starved;

  /** The error of sends to a peer that drops messages, or null. */
  private @Nullable RdmaException stopped;

  /**
   * Creates a sender that posts frames of {@code buffers} to {@code sends}.
   *
   * @param returns the credits that frames return to the peer
   * @param own the handshake that this end sent
   * @param peer the handshake that the peer sent
   */
  public MessageSender(
      SendFrames buffers,
      SendSlots sends,
      OwedCredits returns,
      DutyCycleEnd turn,
      FailureGuard guard,
      Admission admission,
      ConnectionMeter meter,
      ConnectionRecorder events,
      Handshake own,
      Handshake peer) {
    this.sends = sends;
    this.returns = returns;
    this.turn = turn;
    this.guard = guard;
    this.admission = admission;
    this.meter = meter;
    this.events = events;
    resources = buffers.resources();
    loop = resources.loop();
    gathers = loop.device().attributes().maxScatterGather() >= 2;
    frames = new SendFrameCredits(peer.first(), peer.receiveDepth());
    shares = new CreditShares<>(peer.window());
    exposed = new RendezvousSources(resources);
    notices = new SendCredits("immediates", peer.window(), peer.window());
    eagerLimit = Math.min(own.eagerSize(), peer.eagerSize());
    dataLimit = FrameLayout.dataLimit(eagerLimit);
    longest = Math.min(own.maxMessageSize(), peer.maxMessageSize());
    isLongestOwn = own.maxMessageSize() < peer.maxMessageSize();
    signalEvery = Math.max(1, sends.capacity() / 2);
    flying = new FramesInFlight(buffers, turn, guard);
  }

  // ---- what its sends use

  CompletionLoop loop() {
    return loop;
  }

  FailureGuard guard() {
    return guard;
  }

  String peer() {
    return admission.peer();
  }

  /** Returns the exception for a send that cannot start, or null. */
  @Nullable RdmaException refuse() {
    RdmaException refusal = admission.refuse("send", shares.count());
    return refusal == null ? stopped : refusal;
  }

  Duration operationTimeout() {
    return resources.operationTimeout();
  }

  void countFailure(RdmaException why) {
    resources.countFailure("send", why);
  }

  void endTurnLater() {
    turn.ask();
  }

  // ---- credits

  /** Takes the grants of a frame's header. */
  public void granted(int newFrames, int newMessages, int newNotices) {
    frames.raise(newFrames);
    if (frames.hasMoreThanFirst()) {
      sends.ticks().ask();
    }
    notices.raise(newNotices);
    shares.granted(newMessages);
  }

  /** Returns the number of unused credits; from another thread, one that may be outdated. */
  public int credits(Credit kind) {
    return switch (kind) {
      case RECEIVE -> frames.left();
      case MESSAGE -> shares.left();
      case IMMEDIATE -> notices.left();
    };
  }

  /** Returns whether a WRITE may take one of the peer's receives. */
  public boolean mayNotify() {
    return notices.left() > 0 && frames.left() > RESERVED_FRAMES;
  }

  /** Uses up the credits of a WRITE with immediate data. */
  public void notified() {
    notices.use();
    frames.use();
  }

  /** Returns whether a notice may be promised to a WRITE on a device without immediate data. */
  public boolean mayPromiseNotice() {
    return notices.left() > 0;
  }

  /** Uses up the credit of a notice in a frame. */
  public void promiseNotice() {
    notices.use();
  }

  /** Takes back the credit of a promised notice that is not sent, as its WRITE failed. */
  public void takeBackNotice() {
    notices.takeBack();
    // Others may wait for it.
    turn.ask();
  }

  // ---- sends

  /**
   * Returns a Mono that sends messages to the peer, and takes ownership of each; from any thread.
   */
  public Mono<Void> send(Publisher<? extends ByteBuf> messages) {
    return new SendOperation(this, messages);
  }

  void start(SendOperation send) {
    shares.start(send);
  }

  /** Shares the credits after a send got the subscription to its messages. */
  void subscribed() {
    shares.distribute();
  }

  int sendCount() {
    return shares.count();
  }

  /** Takes back credits that a send will not use. */
  void giveBack(int credits) {
    shares.giveBack(credits);
  }

  /**
   * Removes a send that is over.
   *
   * @param held how many of its messages wait
   */
  void end(SendOperation send, int held) {
    shares.end(send, held);
  }

  /**
   * Takes the next message of a send, and with it one of the credits of the send: places the
   * message in a frame, or keeps it waiting.
   */
  void offer(SendOperation send, ByteBuf message, int length) {
    shares.came(length > eagerLimit);
    if (!shares.mayPlace() || !place(send, message, length)) {
      shares.addWaiting(send);
      send.hold(message);
    }
    turn.ask();
  }

  /** Returns the longest message in bytes that this end sends and the peer accepts. */
  int longest() {
    return longest;
  }

  /** Returns the name of the option that limits {@link #longest()}, for errors. */
  String limitOfLongest() {
    return isLongestOwn ? "RdmaOptions.maxMessageSize" : "the peer's maxMessageSize";
  }

  /** Puts a message into a frame; returns false if there is no place yet. */
  private boolean place(SendOperation send, ByteBuf message, int length) {
    if (halted) {
      return false;
    }
    if (length > eagerLimit) {
      return announce(send, message, length);
    }
    SendFrame frame = roomFor(message, RecordLayout.HEADER_LENGTH + length);
    if (frame == null) {
      return false;
    }
    boolean gathered;
    try {
      gathered = fill(frame, message, length);
    } catch (Throwable e) {
      // A foreign buffer threw, or other code has released the message, which is not ours then.
      if (!(e instanceof IllegalReferenceCountException)) {
        ReferenceCountUtil.safeRelease(message);
      }
      send.failAtMessage(e);
      return true;
    }
    shares.use();
    send.placed(frame.number);
    meter.sent(length);
    if (!gathered) {
      release(message, send);
    }
    return true;
  }

  /**
   * Puts a message into a frame; returns false if it was copied. If this throws, the frame does not
   * have it.
   */
  private boolean fill(SendFrame frame, ByteBuf message, int length) {
    Location at = resources.location();
    if (length >= GATHER_FROM
        && gathers
        && resources.memory().locate(message, message.readerIndex(), length, at)) {
      frame.gather(message, length, at);
      return true;
    }
    frame.message(message, length);
    return false;
  }

  private static void release(ByteBuf message, SendOperation send) {
    try {
      message.release();
    } catch (Throwable e) {
      send.failAtMessage(e);
    }
  }

  private boolean announce(SendOperation send, ByteBuf message, int length) {
    if (exposed.isEnough()) {
      return false;
    }
    SendFrame frame = roomFor(message, RecordLayout.RENDEZVOUS_LENGTH);
    if (frame == null) {
      return false;
    }
    try {
      Exposure exposure = exposed.add(send, message, length);
      shares.use();
      send.placed(frame.number);
      send.exposed();
      meter.sent(length);
      frame.rendezvous(length, exposed.lastId(), exposure.rkey(), exposure.address());
    } catch (Throwable e) {
      send.failAtMessage(e);
    }
    return true;
  }

  /** Places waiting messages, in the order of their arrival, as far as credits and slots allow. */
  private void placeWaiting() {
    SendOperation send = shares.takeReady();
    if (send == null) {
      return;
    }
    while (send != null) {
      ByteBuf message = send.takeHeld();
      if (!place(send, message, message.readableBytes())) {
        shares.addWaitingAgain(send);
        send.holdAgain(message);
        return;
      }
      send.completeIfArrived();
      send = shares.takeReady();
    }
    if (shares.isNoneWaiting()) {
      shares.distribute();
    }
  }

  /** Notifies the peer of a WRITE, in a frame behind it. */
  public void notice(WriteNotice notice) {
    waitingNotices.add(notice);
    turn.ask();
  }

  private void placeNotices() {
    WriteNotice notice = waitingNotices.peek();
    while (notice != null) {
      SendFrame frame = room(RecordLayout.IMMEDIATE_LENGTH);
      if (frame == null) {
        return;
      }
      frame.immediate(notice.noticeLength(), notice.immediate());
      frame.notifyWhenArrived(notice);
      waitingNotices.poll();
      notice = waitingNotices.peek();
    }
  }

  /** Handles a DONE: the peer has read all long messages up to {@code id}. */
  public void done(int id) {
    exposed.done(id);
  }

  // ---- frames

  private boolean mayPostData() {
    return frames.left() > RESERVED_FRAMES && sends.freeForData() > 0;
  }

  /** As {@link #room}, for a message that has no other owner: releases it if this throws. */
  private @Nullable SendFrame roomFor(ByteBuf message, int length) {
    try {
      return room(length);
    } catch (Throwable e) {
      ReferenceCountUtil.safeRelease(message);
      throw e;
    }
  }

  /** Returns the open frame if it has room, or else the next one; null if there is neither. */
  private @Nullable SendFrame room(int length) {
    SendFrame full = open;
    if (full != null && full.hasRoom(length, dataLimit)) {
      return full;
    }
    if (!mayPostData()) {
      return null;
    }
    if (full != null && (frames.left() <= RESERVED_FRAMES + 1 || sends.freeForData() <= 1)) {
      // It is the last for now.
      postOpen(full, null, true);
      return null;
    }
    SendFrame next;
    try {
      next = flying.open();
    } catch (MemoryLimitException e) {
      // The full frame is posted at the end of the duty cycle, signaled, as no other completion
      // might retire it. Frames come back as completions are polled, and memory as subscribers
      // release it; the next tick tries again.
      return null;
    }
    if (full == null) {
      open = next;
    } else {
      // The next one follows in this duty cycle, and its completion retires this one too.
      postOpen(full, next, ++unsignaled >= signalEvery);
    }
    return next;
  }

  /** Posts the open frame, and replaces it with {@code next}. */
  private void postOpen(SendFrame frame, @Nullable SendFrame next, boolean signaled) {
    open = next;
    // Something went on: if the sender gets stuck again, its deadline starts anew.
    setStuck(false);
    post(frame, signaled);
  }

  private void post(SendFrame frame, boolean signaled) {
    if (!frame.isGathered()) {
      addControl(frame);
    }
    frame.seal(
        returns.frames().announce(),
        returns.messages().announce(),
        returns.immediates().announce());
    frames.use();
    SendWorkRequest request = frame.describe(sends.request(), sends.inlineLimit());
    if (signaled) {
      request.signaled();
      unsignaled = 0;
    }
    try {
      sends.post(request, frame);
    } catch (VerbsException e) {
      frame.failed(new HcaException("send", admission.peer(), null, "the HCA refused it", e));
      throw e;
    }
  }

  private void addControl(SendFrame frame) {
    if (frames.isReturnDue()) {
      frame.giveBack(frames.giveBackIdle());
    }
    if (returns.isDonePending()) {
      frame.done(returns.takeDone());
    }
    if (isCloseDue()) {
      frame.close(pendingClose.send());
    }
  }

  private boolean isCloseDue() {
    return pendingClose.isDue() && nothingLeft();
  }

  private boolean nothingLeft() {
    return open == null && shares.isNoneWaiting() && waitingNotices.isEmpty();
  }

  private boolean controlDue() {
    if (returns.frames().reached()) {
      return frames.left() > 0;
    }
    return frames.left() > RESERVED_FRAMES
        && (returns.isDue() || isCloseDue() || frames.isReturnDue());
  }

  /** Returns whether it has frame credits that it gives back when it does not use them. */
  public boolean hasMoreFrames() {
    return frames.hasMoreThanFirst();
  }

  /** Sends the messages and notices of this duty cycle, and what the peer must know of credits. */
  public void endDutyCycle() {
    placeWaiting();
    shares.endDutyCycle();
    placeNotices();
    SendFrame frame = open;
    if (frame != null) {
      if (frame.isEmpty() && unsignaled == 0) {
        open = null;
        flying.cancel(frame);
      } else if (mayPostData()) {
        postOpen(frame, null, true);
      }
    }
    boolean posted = !controlDue() || (sends.free() > 0 && postControl());
    setStuck(!posted || open != null || isReadyWaiting());
    setStarved(sendCount() > 0 && (shares.left() <= 0 || frames.left() <= RESERVED_FRAMES));
  }

  private void setStarved(boolean now) {
    if (now != starved) {
      starved = now;
      if (now) {
        events.creditsRanOut();
      } else {
        events.creditsCame();
      }
    }
  }

  /** Returns whether messages or notices wait for anything but the peer's subscriber. */
  private boolean isReadyWaiting() {
    return !waitingNotices.isEmpty() || (shares.isReadyWaiting() && !exposed.isEnough());
  }

  private boolean postControl() {
    SendFrame frame;
    try {
      frame = flying.openControl();
    } catch (MemoryLimitException e) {
      // The next tick tries again.
      return false;
    }
    post(frame, true);
    return true;
  }

  private void setStuck(boolean now) {
    if (now != stuck) {
      stuck = now;
      stuckSince = loop.tick();
      if (now) {
        sends.ticks().ask();
      }
    }
  }

  /** Tries again, on a tick, what found no frame credit, no slot or no memory. */
  public void tick() {
    frames.tick();
    if (stuck || frames.isReturnDue()) {
      turn.ask();
    }
  }

  /** Returns whether something waits for a frame credit, a slot or memory. */
  public boolean isStuck() {
    return stuck;
  }

  /** Returns whether it has been stuck for more than so many ticks. */
  public boolean isOverdue(int ticks) {
    return stuck && loop.tick() - stuckSince > ticks;
  }

  /**
   * Returns whether the frame of this number has reached the peer; if not, calls {@code waiter}
   * when it has.
   */
  boolean hasArrived(long number, FrameWaiter waiter) {
    return flying.hasArrived(number, waiter);
  }

  // ---- end

  /** Places no more messages, and gives no more credits to sends. */
  public void halt() {
    halted = true;
    shares.halt();
    events.creditsCame();
  }

  /** Asks for a CLOSE, which is sent once nothing else is left to send; idempotent. */
  public void close() {
    if (pendingClose.ask()) {
      turn.ask();
    }
  }

  /**
   * Asks for STOP in the CLOSE, or in another one, as this end drops further messages; idempotent.
   */
  public void askToStop() {
    if (pendingClose.askToStop()) {
      turn.ask();
    }
  }

  /** Calls {@code visitor} with the sends; on a watchdog's thread. */
  public void forEachAwaited(AwaitedVisitor visitor) {
    shares.forEach(
        send -> {
          if (send instanceof Awaited awaited) {
            visitor.visit(awaited, 0);
          }
        });
  }

  /** Fails the sends that may request more messages, as the peer drops them. */
  public void stop(RdmaException why) {
    stopped = why;
    shares.failUnfinished(why);
  }

  /** Returns whether a CLOSE is sent once nothing else is left to send. */
  public boolean isCloseWanted() {
    return pendingClose.isWanted();
  }

  /** Returns whether the CLOSE is in a frame. */
  public boolean isCloseSent() {
    return pendingClose.isSent();
  }

  /** Returns whether the CLOSE has reached the peer. */
  public boolean isCloseArrived() {
    return flying.isCloseArrived();
  }

  /** Returns whether no send is under way, and nothing waits for a frame. */
  public boolean isIdle() {
    return shares.count() == 0 && nothingLeft() && exposed.isEmpty();
  }

  /** Frees everything, once the queue pair is destroyed. */
  public void free(RdmaException error) {
    setStuck(false);
    SendFrame frame = open;
    if (frame != null) {
      open = null;
      guard.guarded(() -> flying.lost(frame, error));
    }
    exposed.free(guard);
    shares.forgetWaiting();
  }

  /** Fails all pending notices and sends. */
  public void fail(RdmaException error) {
    for (WriteNotice notice : waitingNotices) {
      guard.guarded(() -> notice.frameLost(error));
    }
    waitingNotices.clear();
    shares.fail(error);
  }
}
