// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import io.verbena.RdmaException;
import io.verbena.core.event.ConnectionRecorder;
import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.core.loop.QueueMember;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.core.receive.ReceivePool;
import io.verbena.core.receive.ReceiveShare;
import io.verbena.netty.wire.Handshake;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The two byte streams of a connection, over one RC queue pair. It outlives its channel until the
 * posted bytes have arrived:
 *
 * <pre>{@code
 * new --open--> open --close--> closing --all sent, or the deadline--> closed
 *  |              |                 |                                     ^
 *  |              |                 |                                     |
 *  |              +--reset----------+   (only what was copied)            |
 *  |              +--abort----------+--error, or the peer is gone---------+
 *  +--abort---------------------------------------------------------------+
 * }</pre>
 *
 * <p>On the event loop's thread only.
 */
final class Stream implements QueueMember, ReceivePool.User {
  private enum State {
    NEW,
    OPEN,
    CLOSING,
    CLOSED
  }

  /**
   * The callbacks of a stream. They are called in a run of the loop, never within a call of the
   * owner.
   */
  interface Owner {
    /** Called when bytes, or the end of the peer's stream, have arrived. */
    void readable();

    /**
     * Called when bytes that wait can be sent or have failed for good, and when bytes were sent.
     */
    void writable();

    /** Returns whether a read is pending or running. */
    boolean wantsBytes();

    /** Returns whether a silent peer is probed. */
    boolean isKeepAlive();

    /** Called when the connection broke; the stream is closed then. */
    void broken(IOException cause);
  }

  private final RdmaIoHandler handler;
  private final SharedHca hca;
  private final ConnectionIdentifier identifier;
  private final Owner owner;
  private final DutyCycleEnd work;
  private final StreamQueues queues;
  private final QueuePair queuePair;
  private final StreamReceiveQueue receiveBuffers;
  private final StreamSendQueue sendBuffers;
  private final StreamWrites writes;
  private final StreamInput input;
  private final KeepAlive keepAlive;
  private final ConnectionRecorder events;
  private State state = State.NEW;

  /**
   * Whether the connection is over; set on any thread, perhaps before the loop gets the same event.
   */
  private volatile boolean over;

  private boolean wantsToWrite;
  private boolean reset;

  /** Whether the peer has ended the connection. */
  private boolean disconnected;

  /** Whether no further receive completes. */
  private boolean receivesEnded;

  private @Nullable IOException failure;
  private @Nullable Future<?> deadline;

  /**
   * Whether a probe is to be posted, whose completion shows that everything before it has arrived.
   */
  private boolean owesFence;

  /**
   * Creates the queue pair of a connection that is being set up, and posts its first receives.
   *
   * @throws VerbsException if the device has no resources left
   * @throws RdmaException if there is no memory for receives, or the HCA does not register it
   */
  Stream(RdmaIoHandler handler, ConnectionIdentifier identifier, Owner owner) {
    this.handler = handler;
    this.identifier = identifier;
    this.owner = owner;
    hca = handler.hca();
    work = new DutyCycleEnd(handler.ends(), this::run);
    queues = new StreamQueues(handler, identifier, this, this::queuePairFailed, this::postRefused);
    queuePair = queues.queuePair();
    sendBuffers = queues.sendBuffers();
    receiveBuffers = queues.receiveBuffers();
    writes = new StreamWrites(hca.memory(), sendBuffers, receiveBuffers, queues.inlineLimit());
    input = new StreamInput(this, receiveBuffers, sendBuffers, queues.trails());
    keepAlive = new KeepAlive(hca, sendBuffers, owner);
    events = new ConnectionRecorder("netty", identifier.peer(), queuePair.number());
    handler.opened(this);
  }

  /** Returns the handshake of this end. */
  Handshake handshake(int port) {
    return new Handshake(port, queues.trails(), hca.options().eagerSize(), receiveBuffers.first());
  }

  /**
   * Returns whether the peer sends control words where this end expects them: as immediate data, or
   * as trailers.
   */
  boolean understands(Handshake peer) {
    return peer.trails() == queues.trails();
  }

  /** Opens the stream, as the connection is established with this handshake of the peer. */
  void open(Handshake peer) {
    sendBuffers.open(peer, hca.options().eagerSize());
    state = State.OPEN;
    events.opened();
  }

  /** Returns the count of posted bytes, which stay in the channel's queue until they are sent. */
  PostedBytes posted() {
    return sendBuffers.waiting();
  }

  StreamReceiveQueue receiveBuffers() {
    return receiveBuffers;
  }

  /** Returns whether bytes can be sent now; if not, calls {@link Owner#writable} when they can. */
  boolean canSend() {
    boolean can = state == State.OPEN && failure == null && sendBuffers.canSend();
    wantsToWrite = !can;
    return can;
  }

  /** Calls {@link Owner#writable} once memory is released; returns false if none will be. */
  boolean awaitMemory() {
    wantsToWrite = sendBuffers.holdsMemory();
    return wantsToWrite;
  }

  /** Returns why nothing can be sent any more, or null. */
  @Nullable IOException failure() {
    if (over) {
      breakOutput(brokenPipe());
    }
    return failure;
  }

  /**
   * Returns whether a failing write has to wait until the owner has read what the peer sent before
   * it ended the connection, because the failure closes the channel. If so, calls {@link
   * Owner#writable} again. A socket is similar: the first write after the peer's end succeeds.
   */
  boolean readsFirst() {
    if (reset || state != State.OPEN || !owner.wantsBytes()) {
      return false;
    }
    if (receiveBuffers.hasUnread()) {
      schedule();
    } else if (!over || receivesEnded) {
      return false;
    }
    wantsToWrite = true;
    return true;
  }

  /**
   * Returns whether the connection is broken and the owner is yet to be told, once all bytes are
   * read.
   */
  boolean isReset() {
    return reset && state == State.OPEN;
  }

  /** Returns whether the connection is broken; an end by the peer does not break it. */
  boolean hasBroken() {
    return reset;
  }

  /** Returns the sender of the bytes that the channel has flushed. */
  StreamWrites writes() {
    return writes;
  }

  /**
   * Ends the output; the peer reads the end after the bytes that were sent.
   *
   * @param rest bytes that are to be sent before the end; taken over
   */
  void shutdownOutput(@Nullable ByteBuf rest) throws IOException {
    if (state != State.OPEN || failure != null) {
      release(rest);
      throw failure == null ? new IOException("the stream is not open") : failure;
    }
    writes.keep(rest);
    sendTail();
  }

  private static void release(@Nullable ByteBuf rest) {
    if (rest != null) {
      rest.release();
    }
  }

  private void sendTail() {
    try {
      writes.sendTail();
    } catch (IOException e) {
      fail(e, null);
    } catch (VerbsException | RdmaException e) {
      fail(new IOException(brokenBecause("the HCA takes no more sends"), e), null);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>One probe at a time. A stream that closes is not probed: it has its deadline.
   */
  @Override
  public boolean keepAlive() {
    try {
      if (keepAlive.isOverdue()) {
        if (state == State.OPEN) {
          fail(new IOException(brokenBecause(keepAlive.why())), null);
        }
        return false;
      }
      return keepAlive.endRound(state == State.OPEN && failure == null);
    } catch (RuntimeException | Error e) {
      broke(e);
      return false;
    }
  }

  @Override
  public void completed(WorkCompletion completion) {
    int sequence = WorkRequestId.sequence(completion.workRequestId());
    try {
      if (WorkRequestId.isReceive(completion.workRequestId())) {
        received(queues.take(sequence), completion);
      } else {
        sent(sequence, completion);
      }
    } catch (RuntimeException | Error e) {
      broke(e);
    }
  }

  private void sent(int sequence, WorkCompletion completion) {
    CompletionStatus status = completion.status();
    sendBuffers.completed(sequence, status);
    keepAlive.completed(status);
    if (!completion.isSuccess()) {
      failed(status);
    }
    schedule();
  }

  @Override
  public void received(ByteBuf frame, WorkCompletion completion) {
    keepAlive.completed(completion.status());
    input.received(frame, completion);
    schedule();
  }

  @Override
  public void receiveRefused(Throwable why) {
    input.failReceives(why);
  }

  /** Returns the peer's address, for errors. */
  String peer() {
    return identifier.peer();
  }

  /** Returns whether the stream is closed, so that received messages are dropped. */
  boolean isClosed() {
    return state == State.CLOSED;
  }

  /**
   * Breaks this stream because its work has thrown, in a buffer of the program for example. No
   * caller catches that, so the loop would end, with all its channels.
   */
  void broke(Throwable why) {
    // Bytes may be missing.
    discard();
    fail(new IOException(brokenBecause(why.toString()), why), null);
  }

  /** Discards unread bytes, and those that arrive from now on. */
  void discard() {
    hca.guarded(receiveBuffers::discard);
  }

  private String brokenPipe() {
    return "Broken pipe: the peer " + identifier.peer() + " has closed the connection";
  }

  String brokenBecause(String why) {
    return "Connection to " + identifier.peer() + " broken: " + why;
  }

  /** Handles a failed receive. All receives before a flushed one have completed. */
  void receiveFailed(CompletionStatus status) {
    if (status == CompletionStatus.WR_FLUSH_ERR && disconnected) {
      receivesEnded();
    }
    failed(status);
  }

  private void failed(CompletionStatus status) {
    if (status == CompletionStatus.WR_FLUSH_ERR) {
      // The peer ended the connection, or an error before this one did.
      breakOutput(brokenPipe());
    } else {
      fail(new IOException(brokenBecause(status.toString())), status);
    }
  }

  private void breakOutput(String why) {
    if (failure == null) {
      failure = new IOException(why);
    }
  }

  /** Breaks the stream; the owner is told once all bytes are read. */
  void fail(IOException cause, @Nullable CompletionStatus status) {
    if (!reset && state == State.OPEN) {
      hca.meter().failed("connection", status, cause);
      events.failed(cause);
    }
    failure = cause;
    reset = true;
    schedule();
  }

  /** Called on any thread before {@link #disconnected}: no write succeeds from now on. */
  void disconnecting() {
    over = true;
  }

  /**
   * Called when the connection manager reports that the peer has ended the connection. Messages
   * that the peer sent before may complete later, but before the flushed receives.
   */
  void disconnected() {
    if (state == State.CLOSED) {
      return;
    }
    disconnected = true;
    breakOutput(brokenPipe());
    handler.drain();
    if (input.isFlushed() || !stopQueues() || queues.areReceivesFlushed()) {
      receivesEnded();
    } else if (state == State.OPEN) {
      endBy(this::receivesEnded);
    }
    // Bytes that wait to be sent fail, after received bytes are read.
    schedule();
  }

  /**
   * Moves the queue pair to its error state, which flushes the posted requests, and handles its
   * completions. Returns false if the HCA refuses, because it is gone for example.
   */
  private boolean stopQueues() {
    receiveBuffers.halt();
    try {
      ReceiveShare.stop(queuePair);
      handler.drain();
      return true;
    } catch (VerbsException e) {
      hca.meter().failed("connection", null, e);
      return false;
    }
  }

  /**
   * Called when the device is gone. Messages received before are in the completion queue. A channel
   * that reads gets as much of them as one read takes; the rest is discarded, because waiting for
   * another read would keep the loop on this device.
   */
  void deviceRemoved() {
    if (state == State.CLOSED) {
      return;
    }
    receiveBuffers.halt();
    handler.drain();
    if (state == State.OPEN && receiveBuffers.isReadable()) {
      owner.readable();
    }
    discard();
    fail(new IOException(brokenBecause("the device was removed")), null);
  }

  /** Called on any thread when the device reports that the queue pair has failed. */
  private void queuePairFailed() {
    over = true;
    try {
      handler.executor().execute(this::noticeFailure);
    } catch (RejectedExecutionException e) {
      // The loop has ended, and closes all of its streams.
      return;
    }
  }

  /**
   * Ends the connection of a failed queue pair, whose completions may not show the failure.
   * Messages received before are in the completion queue.
   */
  private void noticeFailure() {
    if (state == State.CLOSED || disconnected) {
      return;
    }
    if (!stopQueues()) {
      handler.drain();
    }
    breakOutput(brokenPipe());
    receivesEnded();
  }

  /**
   * Breaks the stream, because the HCA has refused requests: bytes are missing, and no regular end
   * may hide that.
   */
  private void postRefused(Throwable why) {
    fail(new IOException(brokenBecause("the HCA refused what was sent"), why), null);
  }

  private void receivesEnded() {
    receivesEnded = true;
    if (state != State.CLOSED) {
      if (!receiveBuffers.hasEnded() && !reset) {
        fail(new IOException("Connection reset by peer: " + identifier.peer()), null);
      }
      schedule();
    }
  }

  /** Runs {@link #doWork} once, in the event loop's next turn. */
  void schedule() {
    work.ask();
  }

  private void run() {
    try {
      doWork();
    } catch (RuntimeException | Error e) {
      broke(e);
    }
  }

  /** Acts on what has happened since the last call. */
  private void doWork() {
    switch (state) {
      case OPEN -> {
        if (receiveBuffers.isReadable()) {
          owner.readable();
        }
        IOException broken = failure;
        // Only unread bytes delay the error: a channel that has got the end gets the error, too.
        if (state == State.OPEN && broken != null && reset && !receiveBuffers.hasUnread()) {
          terminate();
          owner.broken(broken);
          return;
        }
        if (state == State.OPEN && writes.hasTail() && broken == null) {
          sendTail();
        }
        if (state == State.OPEN && (posted().hasSent() || mayWrite())) {
          wantsToWrite = false;
          owner.writable();
        }
        returnCredits();
      }
      case CLOSING -> {
        if (writes.hasTail() && failure == null) {
          sendTail();
        }
        if (owesFence && failure == null && sendBuffers.canAsk()) {
          owesFence = false;
          sendBuffers.ask();
        }
        if (failure != null || (!writes.hasTail() && !owesFence && sendBuffers.isIdle())) {
          terminate();
        } else {
          returnCredits();
        }
      }
      case NEW, CLOSED -> {
        // Not open yet, or not any more.
      }
    }
    if (state != State.CLOSED) {
      input.keepUnread();
    }
  }

  /** Returns whether a write can be sent now, or fails now. */
  private boolean mayWrite() {
    return failure == null
        ? wantsToWrite && sendBuffers.canSend()
        : wantsToWrite || posted().count() > 0;
  }

  private void returnCredits() {
    if (state != State.CLOSED && failure == null) {
      input.returnCredits();
    }
  }

  /**
   * Closes the stream: posted bytes still arrive, then the connection ends. Bytes that arrive
   * meanwhile are discarded.
   *
   * @param rest bytes that are to be sent before the end; taken over
   */
  void close(@Nullable ByteBuf rest) {
    switch (state) {
      case OPEN -> {
        state = State.CLOSING;
        writes.keep(rest);
        if (failure != null) {
          terminate();
          return;
        }
        discard();
        try {
          sendTail();
        } finally {
          // Even if that throws: without a deadline the stream might stay for ever.
          finishPosted();
        }
      }
      case NEW -> {
        release(rest);
        terminate();
      }
      case CLOSING, CLOSED -> release(rest);
    }
  }

  /** Lets posted bytes arrive, within {@link io.verbena.RdmaOptions#closeTimeout}. */
  private void finishPosted() {
    endBy(this::abort);
    schedule();
  }

  private void endBy(Runnable end) {
    Future<?> before = deadline;
    if (before != null) {
      before.cancel(false);
    }
    deadline =
        handler
            .executor()
            .schedule(end, hca.options().closeTimeout().toNanos(), TimeUnit.NANOSECONDS);
  }

  /**
   * Ends the connection without an end of the stream: the peer sees it break, after the copied
   * bytes, whose writes have succeeded. If the HCA still reads buffers of writes, those writes
   * fail, and the connection breaks at once.
   */
  void reset() {
    boolean arrives = state == State.OPEN && failure == null && posted().count() == 0;
    if (!arrives || sendBuffers.isIdle()) {
      abort();
      return;
    }
    state = State.CLOSING;
    owesFence = true;
    discard();
    finishPosted();
  }

  /** Ends the connection now. The peer sees it break, unless the stream was ended. */
  void abort() {
    if (state != State.CLOSED) {
      terminate();
    }
  }

  /** Closes everything. Each step runs even if one before it throws, as on a failed device. */
  private void terminate() {
    boolean wasConnected = state != State.NEW;
    state = State.CLOSED;
    if (wasConnected) {
      events.closed();
    }
    Future<?> timer = deadline;
    if (timer != null) {
      timer.cancel(false);
    }
    hca.dispatcher().forget(identifier);
    if (wasConnected) {
      hca.guarded(identifier::disconnect);
    }
    closeQueues();
    hca.close("connection identifier", identifier::close);
    hca.guarded(writes::release);
    handler.closed(this);
  }

  private void closeQueues() {
    if (queues.sharesReceives() && !hca.hasFailed()) {
      // In the error state the receives of the loop that the HCA has taken complete, and are
      // polled; closing would remove their completions.
      boolean unused = stopQueues();
    }
    queues.close();
  }
}
