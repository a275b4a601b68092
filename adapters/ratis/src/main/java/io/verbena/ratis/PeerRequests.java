// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto.ExceptionDetailsCase;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.MoreExecutors;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.IOUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.BaseSubscriber;

/**
 * The requests of a connection that a peer has opened. The server's threads process them: appends,
 * chunks of a snapshot and a client's ordered requests one after the other within each kind, all
 * others at once. Another request is taken only when a reply was handed on, so one limit bounds the
 * requests in progress and the replies that wait for the peer's credits.
 */
final class PeerRequests extends BaseSubscriber<ByteBuf> {
  private static final Logger LOG = LoggerFactory.getLogger(PeerRequests.class);

  private final String name;
  private final RdmaConnection connection;
  private final RequestHandler handler;
  private final Executor threads;
  private final Executor appends;
  private final Executor snapshots;
  private final Executor ordered;
  private final int most;
  private final int longest;
  private final AtomicInteger replied = new AtomicInteger();
  private final OutboundMessages queue = new OutboundMessages(this::replied);

  /** The newest stream of ordered requests in which a request has failed. */
  private final AtomicInteger failedStream = new AtomicInteger(-1);

  private PeerRequests(
      String name,
      RdmaConnection connection,
      RequestHandler handler,
      Executor threads,
      int most,
      int longest) {
    this.name = name;
    this.connection = connection;
    this.handler = handler;
    this.threads = threads;
    this.most = most;
    this.longest = longest;
    appends = MoreExecutors.newSequentialExecutor(threads);
    snapshots = MoreExecutors.newSequentialExecutor(threads);
    ordered = MoreExecutors.newSequentialExecutor(threads);
  }

  /**
   * Takes a connection over, and serves its requests.
   *
   * @param name of the server, for logs
   * @param threads process requests, and may block
   * @param most the most requests that are in progress or have replies that wait
   * @param longest the longest reply that can be sent, in bytes
   */
  static void serve(
      String name,
      RdmaConnection connection,
      RequestHandler handler,
      Executor threads,
      int most,
      int longest) {
    PeerRequests requests = new PeerRequests(name, connection, handler, threads, most, longest);
    connection.onClose().subscribe(null, error -> requests.queue.close(), requests.queue::close);
    connection.send(requests.queue).subscribe(null, requests::sendFailed);
    connection.receive().subscribe(requests);
  }

  private void sendFailed(Throwable error) {
    if (!connection.isDisposed()) {
      LOG.warn("{}: cannot reply to {}: {}", name, connection.peer(), error.getMessage());
      connection.dispose();
    }
  }

  // ---- on the completion loop

  @Override
  protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
    request(most);
  }

  @Override
  protected void hookOnNext(ByteBuf message) {
    Operation operation =
        message.readableBytes() >= CallLayout.HEADER_LENGTH
                && CallLayout.kind(message) == CallLayout.REQUEST
            ? Operation.of(CallLayout.operation(message))
            : null;
    if (operation == null) {
      message.release();
      LOG.warn("{}: {} sent an unknown message (expected: a request)", name, connection.peer());
      connection.dispose();
      return;
    }
    try {
      executor(operation).execute(() -> work(operation, message));
    } catch (RejectedExecutionException closed) {
      // The server has closed and serves no requests: the peer must connect to another one.
      message.release();
      connection.dispose();
    } catch (Error noThread) {
      message.release();
      connection.dispose();
      throw noThread;
    }
  }

  private Executor executor(Operation operation) {
    return switch (operation) {
      case APPEND_ENTRIES -> appends;
      case INSTALL_SNAPSHOT -> snapshots;
      case ORDERED -> ordered;
      default -> threads;
    };
  }

  @Override
  protected void hookOnComplete() {
    connection.close().onErrorComplete(RdmaException.class).subscribe();
  }

  @Override
  protected void hookOnError(Throwable error) {
    LOG.debug("{}: {} has gone: {}", name, connection.peer(), error.getMessage());
  }

  // ---- on the server's threads

  @SuppressWarnings("FutureReturnValueIgnored")
  private void work(Operation operation, ByteBuf message) {
    long call = CallLayout.call(message);
    int stream = CallLayout.stream(message);
    CompletableFuture<? extends MessageLite> reply;
    try {
      reply = start(operation, stream, message);
    } catch (Throwable e) {
      // Also for an Error of the program's state machine: the peer waits for the reply and its
      // credit.
      answer(operation, call, stream, null, e);
      return;
    } finally {
      message.release();
    }
    reply.whenComplete((body, failure) -> answer(operation, call, stream, body, failure));
  }

  private CompletableFuture<? extends MessageLite> start(
      Operation operation, int stream, ByteBuf message) throws IOException {
    if (operation == Operation.ORDERED && stream <= failedStream.get()) {
      // Ratis sends the request again; the one before it decides to which server.
      throw new ResourceUnavailableException(name + ": a request before this one has failed");
    }
    MessageLite request =
        operation == Operation.INSTALL_SNAPSHOT
            ? CallLayout.snapshotBody(message)
            : CallLayout.body(message, operation.requests());
    return handler.handle(operation, request);
  }

  // ---- on any thread

  private void answer(
      Operation operation,
      long call,
      int stream,
      @Nullable MessageLite reply,
      @Nullable Throwable failure) {
    if (operation == Operation.ORDERED && (reply == null || isFailure(reply))) {
      failedStream.accumulateAndGet(stream, Math::max);
    }
    if (connection.isDisposed()) {
      return;
    }
    try {
      queue.offer(message(call, reply, failure));
    } catch (Throwable e) {
      // The reply is lost, and the peer's credit with it: only the end of the connection shows that
      // to the peer. The future that is completed would drop the exception.
      LOG.warn("{}: cannot reply to {}", name, connection.peer(), e);
      connection.dispose();
    }
  }

  private void replied() {
    // Requested in batches: each costs the loop a turn.
    int batch = Math.max(1, most / 8);
    if (replied.incrementAndGet() % batch == 0) {
      request(batch);
    }
  }

  /** Returns whether the client sends this request, and so those after it, again. */
  private static boolean isFailure(MessageLite reply) {
    if (!(reply instanceof RaftClientReplyProto client)) {
      return false;
    }
    ExceptionDetailsCase exception = client.getExceptionDetailsCase();
    return exception == ExceptionDetailsCase.NOTLEADEREXCEPTION
        || exception == ExceptionDetailsCase.LEADERNOTREADYEXCEPTION;
  }

  private ByteBuf message(long call, @Nullable MessageLite reply, @Nullable Throwable failure)
      throws IOException {
    String tooLong = reply == null ? null : CallLayout.tooLong(reply, longest);
    if (tooLong != null) {
      // The reply would end the connection, and with it all other requests.
      return message(call, null, new IOException(name + ": " + tooLong));
    }
    try {
      return message(connection.memory().allocator(), call, reply, failure);
    } catch (MemoryLimitException full) {
      // Other memory, whose bytes are copied: without it all requests would fail with the
      // connection.
      return message(PooledByteBufAllocator.DEFAULT, call, reply, failure);
    }
  }

  private ByteBuf message(
      ByteBufAllocator allocator,
      long call,
      @Nullable MessageLite reply,
      @Nullable Throwable failure)
      throws IOException {
    return reply == null
        ? CallLayout.failure(allocator, call, serialized(failure))
        : CallLayout.message(allocator, CallLayout.REPLY, 0, 0, call, reply);
  }

  private byte[] serialized(@Nullable Throwable failure) {
    Throwable why = failure == null ? new IOException(name + ": no reply") : unwrapped(failure);
    byte[] bytes;
    try {
      bytes = IOUtils.object2Bytes(why);
    } catch (RuntimeException | StackOverflowError notSerializable) {
      bytes = IOUtils.object2Bytes(new IOException(why.toString()));
    }
    long length = (long) CallLayout.HEADER_LENGTH + bytes.length;
    if (length <= longest) {
      return bytes;
    }
    // Like a reply that is too long, it would end the connection.
    var tooLong =
        new IOException(
            "%s: %s of %d bytes (expected: <= %d, RdmaOptions.maxMessageSize)"
                .formatted(name, why.getClass().getName(), length, longest));
    tooLong.setStackTrace(new StackTraceElement[0]);
    return IOUtils.object2Bytes(tooLong);
  }

  /** Returns the cause of a failure, which Ratis sometimes wraps more than once. */
  private static Throwable unwrapped(Throwable failure) {
    Throwable why = failure;
    while (why instanceof CompletionException && why.getCause() != null) {
      why = why.getCause();
    }
    return why;
  }
}
