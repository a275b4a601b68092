package io.verbena.reactor.connection;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaException;
import io.verbena.RemoteRequestException;
import io.verbena.core.loop.LoopTask;
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
 * One send: subscribes to its messages on the loop, asks for as many as there are credits, and
 * completes when the peer has all. Messages that come from other threads wait in {@link #inbox},
 * which holds no more than were asked for.
 */
final class SendOperation extends Mono<Void>
    implements CoreSubscriber<ByteBuf>, Subscription, LoopTask, FrameWaiter {
  private static final AtomicIntegerFieldUpdater<SendOperation> SCHEDULED =
      AtomicIntegerFieldUpdater.newUpdater(SendOperation.class, "scheduled");
  private static final AtomicIntegerFieldUpdater<SendOperation> SUBSCRIBED =
      AtomicIntegerFieldUpdater.newUpdater(SendOperation.class, "subscribed");
  private static final int INBOX_CHUNK = 64;

  private final Connection connection;
  private final Publisher<? extends ByteBuf> messages;
  private volatile int subscribed;
  private volatile int scheduled;
  private volatile boolean cancelled;
  private volatile @Nullable Queue<ByteBuf> inbox;
  private volatile boolean upstreamEnded;
  private @Nullable Throwable upstreamError;
  private volatile @Nullable Subscription upstream;
  private @Nullable LoopTask nextTask;
  private @Nullable FrameWaiter nextWaiter;
  private @Nullable CoreSubscriber<? super Void> actual;

  // Only on the loop.
  private @Nullable ArrayDeque<ByteBuf> held;
  private boolean started;
  private boolean ended;
  private boolean exhausted;
  private boolean waitsForFrame;
  private boolean placedAny;
  private int asked;
  private int lastFrame;
  private int unread;

  SendOperation(Connection connection, Publisher<? extends ByteBuf> messages) {
    this.connection = connection;
    this.messages = messages;
  }

  @Override
  public void subscribe(CoreSubscriber<? super Void> subscriber) {
    if (subscribed != 0 || !SUBSCRIBED.compareAndSet(this, 0, 1)) {
      new SendOperation(connection, messages).subscribe(subscriber);
      return;
    }
    actual = subscriber;
    subscriber.onSubscribe(this);
    if (connection.loop().inLoop()) {
      start();
    } else {
      connection.loop().schedule(this);
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
    RdmaException refusal = connection.refuseSend();
    if (refusal != null) {
      ended = true;
      // The messages are never asked for: nothing to release.
      connection.countFailure("send", refusal);
      actual().onError(refusal);
      return;
    }
    connection.outbound().start(this);
    messages.subscribe(this);
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
    } else if (connection.loop().inLoop()) {
      subscribedOnLoop();
    } else {
      connection.loop().schedule(this);
    }
  }

  private void subscribedOnLoop() {
    Subscription subscription = upstream;
    if (!ended) {
      connection.outbound().subscribed();
    } else if (subscription != null) {
      subscription.cancel();
    }
  }

  @Override
  public void onNext(ByteBuf message) {
    Queue<ByteBuf> queue = inbox;
    if (connection.loop().inLoop() && (queue == null || queue.isEmpty())) {
      take(message);
      return;
    }
    if (queue == null) {
      queue = new SpscUnboundedVarHandleArrayQueue<>(INBOX_CHUNK);
      inbox = queue;
    }
    queue.add(message);
    connection.loop().schedule(this);
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
    if (connection.loop().inLoop()) {
      exhaust();
    } else {
      connection.loop().schedule(this);
    }
  }

  // ---- the loop

  @Override
  public void run() {
    try {
      turn();
    } catch (Throwable thrown) {
      connection.broke(thrown);
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
    if (ended) {
      message.release();
      return;
    }
    int length = message.readableBytes();
    Outbound outbound = connection.outbound();
    if (asked == 0) {
      message.release();
      fail(Exceptions.failWithOverflow("send: more messages came than were requested"));
    } else if (length > outbound.longest()) {
      message.release();
      fail(
          new RemoteRequestException(
              "send",
              connection.peer(),
              null,
              "message length: "
                  + length
                  + " (expected: <= "
                  + outbound.longest()
                  + ", the peer's maxMessageSize)",
              null));
    } else {
      asked--;
      outbound.offer(this, message, length);
    }
  }

  private void exhaust() {
    Queue<ByteBuf> queue = inbox;
    if (exhausted) {
      return;
    }
    if (queue != null && !queue.isEmpty()) {
      connection.loop().schedule(this);
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
      connection.outbound().giveBack(asked);
      asked = 0;
      completeIfArrived();
    }
  }

  /** Whether it can use credits. */
  boolean wants() {
    return upstream != null && !upstreamEnded && !ended;
  }

  /** Whether it has neither credits nor messages that wait for one. */
  boolean isIdle() {
    return asked == 0 && isHoldingNothing();
  }

  private boolean isHoldingNothing() {
    return held == null || held.isEmpty();
  }

  /** Asks for so many messages. */
  void ask(int credits) {
    asked += credits;
    Subscription subscription = upstream;
    if (subscription != null) {
      subscription.request(credits);
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

  /** Keeps it, as it still finds no place. */
  void holdAgain(ByteBuf message) {
    ArrayDeque<ByteBuf> queue = held;
    if (queue == null) {
      throw new IllegalStateException("no message was held");
    }
    queue.addFirst(message);
  }

  /** A message of this send stands in this frame. */
  void placed(int frame) {
    placedAny = true;
    lastFrame = frame;
  }

  /** A message of this send waits for the peer to READ it. */
  void exposed() {
    unread++;
  }

  /** The peer has read one. */
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

  /** Completes it if all its messages came and the peer has them. */
  void completeIfArrived() {
    if (ended || !exhausted || unread > 0 || waitsForFrame || !isHoldingNothing()) {
      return;
    }
    if (placedAny && !connection.outbound().hasArrived(lastFrame, this)) {
      waitsForFrame = true;
      return;
    }
    ended = true;
    connection.outbound().end(this, 0);
    connection.endTurnLater();
    actual().onComplete();
  }

  /** Ends it with an error, unless it has ended. */
  void fail(Throwable error) {
    if (ended) {
      return;
    }
    connection.guarded(this::drop);
    if (error instanceof RdmaException why) {
      connection.guarded(() -> connection.countFailure("send", why));
    }
    connection.tellError(actual(), error);
  }

  private void stop() {
    if (!ended) {
      drop();
    }
  }

  /** Lets go of all that did not get into a frame; what did is the HCA's until it completes. */
  private void drop() {
    ended = true;
    Subscription subscription = upstream;
    if (subscription != null && !upstreamEnded) {
      connection.guarded(subscription::cancel);
    }
    ArrayDeque<ByteBuf> queue = held;
    int count = 0;
    if (queue != null) {
      held = null;
      count = queue.size();
      for (ByteBuf message : queue) {
        connection.guarded(message::release);
      }
    }
    Outbound outbound = connection.outbound();
    outbound.giveBack(asked);
    asked = 0;
    outbound.end(this, count);
    connection.endTurnLater();
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
    if (subscription != null) {
      subscription.cancel();
    }
    if (!connection.loop().inLoop()) {
      connection.loop().schedule(this);
    } else if (started) {
      stop();
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
