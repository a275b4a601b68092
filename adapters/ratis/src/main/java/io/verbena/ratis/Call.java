// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.IOUtils;
import org.apache.ratis.util.ProtoUtils;

/**
 * A call in flight, which ends once: with its reply, or with an {@link IOException}.
 *
 * @param operation the requested operation
 * @param stream the stream of an {@link Operation#ORDERED} request
 * @param deadline in {@link System#nanoTime}
 * @param executor completes {@code end}, and so runs the actions that wait for it
 * @param end the reply
 */
record Call(
    Operation operation,
    int stream,
    long deadline,
    Executor executor,
    CompletableFuture<MessageLite> end) {

  /** Returns the same call as one of a stream. */
  Call in(int ofStream) {
    return new Call(operation, ofStream, deadline, executor, end);
  }

  /** Ends the call with a message of the peer, which stays the caller's. */
  void ended(ByteBuf message) {
    MessageLite reply;
    try {
      reply = reply(message);
    } catch (IOException e) {
      fail(e);
      return;
    } catch (Throwable e) {
      // If the class of the peer's exception is missing, or memory for the reply, for example. The
      // call is not in flight any more, so only this can end it.
      fail(new IOException("a reply cannot be read: " + e, e));
      return;
    }
    execute(() -> end.complete(reply));
  }

  private MessageLite reply(ByteBuf message) throws IOException {
    if (CallLayout.kind(message) == CallLayout.FAILURE) {
      throw exception(message);
    }
    return CallLayout.body(message, operation.replies());
  }

  private static IOException exception(ByteBuf message) {
    Object thrown =
        ProtoUtils.toObject(
            org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations.unsafeWrap(
                CallLayout.bodyBytes(message)));
    return IOUtils.asIOException((Throwable) thrown);
  }

  /** Fails the call. */
  void fail(IOException why) {
    execute(() -> end.completeExceptionally(why));
  }

  private void execute(Runnable completion) {
    try {
      executor.execute(completion);
    } catch (RejectedExecutionException | Error notRun) {
      // The caller has closed its executor, or there is no thread: the call completes on this
      // thread.
      completion.run();
    }
  }
}
