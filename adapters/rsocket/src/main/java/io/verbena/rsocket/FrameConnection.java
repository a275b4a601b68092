// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocketErrorException;
import io.rsocket.frame.ErrorFrameCodec;
import io.verbena.ConnectionClosedException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * RSocket's view of a connection. Frames from any thread go into a {@link FrameQueue}, which one
 * send drains. The peer's frames arrive on the connection's completion loop.
 *
 * <p>It ends in one of three ways. If this end closes it, queued frames are still sent, within
 * {@link io.verbena.RdmaOptions#closeTimeout}, and received ones are dropped. If the peer closes
 * it, queued frames are dropped. If it fails, both are dropped at once.
 */
final class FrameConnection implements DuplexConnection {
  private static final AtomicReferenceFieldUpdater<FrameConnection, Throwable> FAILURE =
      AtomicReferenceFieldUpdater.newUpdater(FrameConnection.class, Throwable.class, "failure");

  private final RdmaConnection connection;
  private final FrameAllocator allocator;
  private final SendQueues queues;
  private final FrameQueue queue;
  private final Flux<ByteBuf> received;
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private volatile boolean leaving;
  private volatile @Nullable Throwable failure;

  private FrameConnection(RdmaConnection connection, SendQueues queues) {
    this.connection = connection;
    this.queues = queues;
    allocator = new FrameAllocator(connection.memory().allocator());
    queue = queues.open();
    received = new ReceivedFrames(this, connection.receive());
  }

  /** Returns the view of an established connection, which it takes over. */
  static FrameConnection over(RdmaConnection connection, SendQueues queues) {
    FrameConnection frames = new FrameConnection(connection, queues);
    frames.start();
    return frames;
  }

  private void start() {
    connection.onClose().subscribe(null, this::ended, () -> ended(null));
    connection.send(queue).subscribe(null, this::sendFailed);
  }

  // ---- send

  @Override
  public void sendFrame(int streamId, ByteBuf frame) {
    // Frames of the connection itself go ahead, so that queued frames delay no keep-alive.
    long depth = queue.offer(frame, streamId == 0);
    if (depth > 0) {
      fail(new SendQueueLimitException(connection.peer(), depth, queue.limit()));
    }
  }

  /** Called when the send fails. If the connection is not closed, a frame could not be sent. */
  private void sendFailed(Throwable error) {
    if (!(error instanceof ConnectionClosedException)) {
      fail(error);
    }
  }

  @Override
  public void sendErrorAndClose(RSocketErrorException error) {
    queue.completeWith(ErrorFrameCodec.encode(alloc(), 0, error));
    leave();
  }

  @Override
  public ByteBufAllocator alloc() {
    return allocator;
  }

  // ---- receive

  @Override
  public Flux<ByteBuf> receive() {
    return received;
  }

  /** Returns whether frames of the peer are dropped. */
  boolean isLeaving() {
    return leaving;
  }

  /** Called when the peer's frames end: the peer takes no more frames either. */
  void peerLeft() {
    queue.drop();
    leave();
  }

  // ---- end

  @Override
  public void dispose() {
    queue.complete();
    leave();
  }

  private void leave() {
    leaving = true;
    // onClose() reports why the connection could not be closed gracefully.
    connection.close().onErrorComplete(RdmaException.class).subscribe();
  }

  /**
   * Closes the connection at once. {@code onClose} fails with {@code why}, or with that of the
   * first call.
   */
  void fail(Throwable why) {
    FAILURE.compareAndSet(this, null, why);
    leaving = true;
    queue.drop();
    connection.dispose();
  }

  private void ended(@Nullable Throwable error) {
    leaving = true;
    queue.drop();
    queues.close(queue);
    Throwable own = failure;
    Throwable why = own == null ? error : own;
    // As on TCP, a close by the peer is no error.
    if (why == null || why instanceof ConnectionClosedException) {
      closed.tryEmitEmpty();
    } else {
      closed.tryEmitError(why);
    }
  }

  /**
   * Returns the error with which received frames end: this end's own reason, else the connection's.
   */
  Throwable reason(Throwable error) {
    Throwable own = failure;
    if (own != null) {
      return own;
    }
    return error instanceof ConnectionClosedException
        ? new ClosedChannelException().initCause(error)
        : error;
  }

  @Override
  public boolean isDisposed() {
    return leaving;
  }

  @Override
  public Mono<Void> onClose() {
    return closed.asMono();
  }

  @Override
  public SocketAddress remoteAddress() {
    return new PeerAddress(connection.peer());
  }
}
