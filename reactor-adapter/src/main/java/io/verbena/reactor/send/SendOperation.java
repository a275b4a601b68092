// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import io.verbena.LocalAccessException;
import io.verbena.RdmaException;
import io.verbena.RemoteRequestException;
import io.verbena.core.loop.Awaited;
import io.verbena.core.loop.HeldUp;
import io.verbena.core.loop.LoopTask;
import io.verbena.reactor.credit.CreditUser;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.guard.HeldUpLoop;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jctools.queues.varhandle.SpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * One send: subscribes to its messages on the loop, requests as many as it has credits, and
 * completes when the peer has all. Messages that come from other threads wait in {@link #inbox},
 * which holds no more than were requested.
 */
final class SendOperation extends Mono<Void>
    implements CoreSubscriber<ByteBuf>, Subscription, LoopTask, Awaited, FrameWaiter, CreditUser {
  private static final AtomicIntegerFieldUpdater<SendOperation> SCHEDULED =
      AtomicIntegerFieldUpdater.newUpdater(SendOperation.class, "scheduled");
  private static final AtomicIntegerFieldUpdater<SendOperation> SUBSCRIBED =
      AtomicIntegerFieldUpdater.newUpdater(SendOperation.class, "subscribed");
  private static final AtomicIntegerFieldUpdater<SendOperation> EMITTED =
      AtomicIntegerFieldUpdater.newUpdater(SendOperation.class, "emitted");
  private static final int INBOX_CHUNK = 64;

  private final MessageSender sender;
  private final Publisher<? extends ByteBuf> messages;
  private volatile int subscribed;
  private volatile int scheduled;
  private volatile int emitted;
  private volatile boolean cancelled;
  private volatile @Nullable Queue<ByteBuf> inbox;
  private volatile boolean upstreamEnded;
  private @Nullable Throwable upstreamError;
  private volatile @Nullable Subscription upstream;
  private @Nullable LoopTask nextTask;
  private @Nullable FrameWaiter nextWaiter;
  private @Nullable CoreSubscriber<? super Void> actual;

  // Only on the loop; a watchdog reads whether it was started.
  private @Nullable ArrayDeque<ByteBuf> held;
  private boolean started;
  private boolean ended;
  private boolean exhausted;
  private boolean waitsForFrame;
  private boolean placedAny;
  private int asked;
  private int taken;
  private long lastFrame;
  private int unread;

  SendOperation(MessageSender sender, Publisher<? extends ByteBuf> messages) {
    this.sender = sender;
    this.messages = messages;
  }

  @Override
  public void subscribe(CoreSubscriber<? super Void> subscriber) {
    if (subscribed != 0 || !SUBSCRIBED.compareAndSet(this, 0, 1)) {
      new SendOperation(sender, messages).subscribe(subscriber);
      return;
    }
    actual = subscriber;
    subscriber.onSubscribe(this);
    if (sender.loop().inLoop()) {
      start();
    } else {
      sender.loop().schedule(this);
    }
  }

  private CoreSubscriber<? super Void> actual() {
    CoreSubscriber<? super Void> subscriber = actual;
    if (subscriber == null) {
      throw new IllegalStateException("not subscribed");
    }
    return subscriber;
  }

  private void start() {
    started = true;
    if (cancelled) {
      ended = true;
      return;
    }
    RdmaException refusal = sender.refuse();
    if (refusal != null) {
      ended = true;
      // The messages are not subscribed to: there is nothing to release.
      if (mayEmit()) {
        sender.countFailure(refusal);
        sender.guard().emitError(actual(), refusal);
      }
      return;
    }
    sender.start(this);
    try {
      messages.subscribe(this);
    } catch (Throwable thrown) {
      // As if the publisher had signalled it.
      fail(thrown);
    }
  }

  // ---- the subscriber of the messages, on any thread

  @Override
  public Context currentContext() {
    CoreSubscriber<? super Void> subscriber = actual;
    return subscriber == null ? Context.empty() : subscriber.currentContext();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    if (!Operators.validate(upstream, subscription)) {
      return;
    }
    upstream = subscription;
    if (cancelled) {
      subscription.cancel();
    } else if (sender.loop().inLoop()) {
      subscribedOnLoop();
    } else {
      sender.loop().schedule(this);
    }
  }

  private void subscribedOnLoop() {
    Subscription subscription = upstream;
    if (!ended) {
      sender.subscribed();
    } else if (subscription != null) {
      subscription.cancel();
    }
  }

  @Override
  public void onNext(ByteBuf message) {
    Queue<ByteBuf> queue = inbox;
    if (sender.loop().inLoop() && (queue == null || queue.isEmpty())) {
      try {
        take(message);
      } catch (Throwable thrown) {
        sender.guard().broke(thrown);
      }
      return;
    }
    if (queue == null) {
      queue = new SpscUnboundedVarHandleArrayQueue<>(INBOX_CHUNK);
      inbox = queue;
    }
    queue.add(message);
    sender.loop().schedule(this);
  }

  @Override
  public void onComplete() {
    end(null);
  }

  @Override
  public void onError(Throwable error) {
    end(requireNonNull(error, "error"));
  }

  private void end(@Nullable Throwable error) {
    if (upstreamEnded) {
      if (error != null) {
        Operators.onErrorDropped(error, currentContext());
      }
      return;
    }
    upstreamError = error;
    upstreamEnded = true;
    if (sender.loop().inLoop()) {
      exhaust();
    } else {
      sender.loop().schedule(this);
    }
  }

  // ---- the loop

  @Override
  public void run() {
    try {
      turn();
    } catch (Throwable thrown) {
      sender.guard().broke(thrown);
    }
  }

  private void turn() {
    if (!started) {
      start();
      return;
    }
    if (cancelled) {
      stop();
    }
    boolean lastWasIn = upstreamEnded;
    Queue<ByteBuf> queue = inbox;
    if (queue != null) {
      ByteBuf message = queue.poll();
      while (message != null) {
        take(message);
        message = queue.poll();
      }
    }
    if (lastWasIn) {
      exhaust();
    } else if (upstream != null) {
      subscribedOnLoop();
    }
  }

  private void take(ByteBuf message) {
    int position = taken++;
    if (ended) {
      ReferenceCountUtil.safeRelease(message);
      return;
    }
    int length;
    try {
      if (message.refCnt() == 0) {
        fail(released(position, null));
        return;
      }
      length = message.readableBytes();
    } catch (Throwable e) {
      // The buffer is the user's, and may throw anything.
      ReferenceCountUtil.safeRelease(message);
      fail(
          new LocalAccessException(
              "send", sender.peer(), null, "a message cannot be used: " + e, e));
      return;
    }
    if (asked == 0) {
      ReferenceCountUtil.safeRelease(message);
      fail(Exceptions.failWithOverflow("send: more messages came than were requested"));
    } else if (length > sender.longest()) {
      ReferenceCountUtil.safeRelease(message);
      fail(
          new RemoteRequestException(
              "send",
              sender.peer(),
              null,
              "message length: "
                  + length
                  + " (expected: <= "
                  + sender.longest()
                  + ", "
                  + sender.limitOfLongest()
                  + ")",
              null));
    } else {
      asked--;
      sender.offer(this, message, length);
    }
  }

  /** Fails the send, as the message that was taken from it last cannot be read or released. */
  void failAtMessage(Throwable why) {
    ArrayDeque<ByteBuf> queue = held;
    int position = taken - 1 - (queue == null ? 0 : queue.size());
    fail(why instanceof IllegalReferenceCountException ? released(position, why) : why);
  }

  private static IllegalReferenceCountException released(int position, @Nullable Throwable why) {
    return new IllegalReferenceCountException(
        "send: message "
            + Integer.toUnsignedString(position)
            + " of it, counted from 0, was released (expected: only the send releases it)",
        why);
  }

  private void exhaust() {
    Queue<ByteBuf> queue = inbox;
    if (exhausted) {
      return;
    }
    if (queue != null && !queue.isEmpty()) {
      sender.loop().schedule(this);
      return;
    }
    exhausted = true;
    if (ended) {
      return;
    }
    Throwable error = upstreamError;
    if (error != null) {
      fail(error);
    } else {
      sender.giveBack(asked);
      asked = 0;
      completeIfArrived();
    }
  }

  @Override
  public boolean wants() {
    return upstream != null && isUnfinished();
  }

  @Override
  public boolean isUnfinished() {
    return !upstreamEnded && !ended;
  }

  @Override
  public boolean isIdle() {
    return asked == 0 && isHoldingNothing();
  }

  private boolean isHoldingNothing() {
    return held == null || held.isEmpty();
  }

  @Override
  public void ask(int credits) {
    asked += credits;
    Subscription subscription = upstream;
    if (subscription != null) {
      try {
        subscription.request(credits);
      } catch (Throwable thrown) {
        // Not thrown on, as the caller may be about to complete another send.
        sender.guard().broke(thrown);
      }
    }
  }

  /** Keeps a message that finds no place yet. */
  void hold(ByteBuf message) {
    ArrayDeque<ByteBuf> queue = held;
    if (queue == null) {
      queue = new ArrayDeque<>();
      held = queue;
    }
    queue.add(message);
  }

  /** Takes the first message that was held. */
  ByteBuf takeHeld() {
    ArrayDeque<ByteBuf> queue = held;
    if (queue == null) {
      throw new IllegalStateException("no message is held");
    }
    return queue.remove();
  }

  /** Puts a message back, as it still finds no place. */
  void holdAgain(ByteBuf message) {
    ArrayDeque<ByteBuf> queue = held;
    if (queue == null) {
      throw new IllegalStateException("no message was held");
    }
    queue.addFirst(message);
  }

  /** Records the frame that has a message of this send. */
  void placed(long frame) {
    placedAny = true;
    lastFrame = frame;
  }

  /** Counts a message of this send that waits for the peer to READ it. */
  void exposed() {
    unread++;
  }

  /** Counts a message that the peer has read. */
  void read() {
    unread--;
    completeIfArrived();
  }

  @Override
  public void frameArrived() {
    waitsForFrame = false;
    completeIfArrived();
  }

  @Override
  public void frameLost(RdmaException error) {
    // The connection fails all its sends in one go.
    waitsForFrame = false;
  }

  /** Completes the send if its publisher has completed and the peer has all messages. */
  void completeIfArrived() {
    if (ended || !exhausted || unread > 0 || waitsForFrame || !isHoldingNothing()) {
      return;
    }
    if (placedAny && !sender.hasArrived(lastFrame, this)) {
      waitsForFrame = true;
      return;
    }
    ended = true;
    sender.end(this, 0);
    sender.endTurnLater();
    if (mayEmit()) {
      sender.guard().emitComplete(actual());
    }
  }

  @Override
  public void fail(Throwable error) {
    if (ended) {
      return;
    }
    sender.guard().guarded(this::drop);
    if (!mayEmit()) {
      return;
    }
    if (error instanceof RdmaException why) {
      sender.guard().guarded(() -> sender.countFailure(why));
    }
    sender.guard().emitError(actual(), error);
  }

  /**
   * Claims the signal of the end for the caller; returns false if another caller has claimed it.
   */
  private boolean mayEmit() {
    return emitted == 0 && EMITTED.compareAndSet(this, 0, 1);
  }

  private void stop() {
    if (!ended) {
      drop();
    }
  }

  /**
   * Releases all messages that are not in a frame; those in frames belong to the HCA until it
   * completes them.
   */
  private void drop() {
    ended = true;
    Subscription subscription = upstream;
    if (subscription != null && !upstreamEnded) {
      sender.guard().guarded(subscription::cancel);
    }
    ArrayDeque<ByteBuf> queue = held;
    int count = 0;
    if (queue != null) {
      held = null;
      count = queue.size();
      for (ByteBuf message : queue) {
        ReferenceCountUtil.safeRelease(message);
      }
    }
    sender.giveBack(asked);
    asked = 0;
    sender.end(this, count);
    sender.endTurnLater();
  }

  // ---- the subscription of the result

  @Override
  public void request(long n) {
    Operators.validate(n);
  }

  @Override
  public void cancel() {
    cancelled = true;
    Subscription subscription = upstream;
    try {
      if (subscription != null) {
        subscription.cancel();
      }
    } finally {
      if (!sender.loop().inLoop()) {
        sender.loop().schedule(this);
      } else if (started) {
        stop();
      }
    }
  }

  @Override
  public boolean markScheduled() {
    return SCHEDULED.getAndSet(this, 1) == 0;
  }

  @Override
  public void clearScheduled() {
    if (scheduled != 0) {
      SCHEDULED.getAndSet(this, 0);
    }
  }

  @Override
  public long patience() {
    return sender.operationTimeout().toNanos();
  }

  /**
   * Fails a send that waits to be started, or for the peer. A send whose publisher has not
   * completed may wait for messages only, and goes on with the loop.
   */
  @Override
  public @Nullable Runnable expire(HeldUp why) {
    if (cancelled || (started && !upstreamEnded) || !mayEmit()) {
      return null;
    }
    cancelled = true;
    RdmaException error = HeldUpLoop.timeout("send", sender.peer(), sender.operationTimeout(), why);
    return () -> {
      // The loop releases its messages; if it was not started, there are none.
      sender.loop().schedule(this);
      sender.countFailure(error);
      try {
        actual().onError(error);
      } catch (Throwable thrown) {
        FailureGuard.drop(thrown);
      }
    };
  }

  @Override
  public @Nullable LoopTask nextTask() {
    return nextTask;
  }

  @Override
  public void nextTask(@Nullable LoopTask next) {
    nextTask = next;
  }

  @Override
  public @Nullable FrameWaiter nextWaiter() {
    return nextWaiter;
  }

  @Override
  public void nextWaiter(@Nullable FrameWaiter next) {
    nextWaiter = next;
  }
}
