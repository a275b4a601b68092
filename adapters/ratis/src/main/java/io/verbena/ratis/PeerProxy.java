// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import io.verbena.RdmaTransport;
import java.io.Closeable;
import java.io.IOException;
import java.net.SocketException;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.IOUtils;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;

/**
 * A peer to call. The first call connects, and so does the next one after the connection has ended:
 * nothing is sent twice, and the caller decides whether to try again. Thread-safe.
 */
final class PeerProxy implements Closeable {
  private final RdmaTransport transport;
  private final URI address;
  private final String name;
  private final int mostCalls;
  private final AtomicReference<@Nullable PeerLink> link = new AtomicReference<>();
  private final AtomicInteger stream = new AtomicInteger();
  private volatile boolean closed;

  /**
   * @param name of who calls whom, for messages
   * @param mostCalls how many calls may be in flight
   */
  PeerProxy(RdmaTransport transport, URI address, String name, int mostCalls) {
    this.transport = transport;
    this.address = address;
    this.name = name;
    this.mostCalls = mostCalls;
  }

  /**
   * Calls the peer.
   *
   * @param timeout from now to the reply
   * @param executor runs what depends on the reply; {@code Runnable::run} for the completion loop,
   *     which must not be blocked
   * @return the operation's reply, or an {@link IOException}
   */
  CompletableFuture<MessageLite> call(
      Operation operation, MessageLite request, TimeDuration timeout, Executor executor) {
    return call(operation, 0, request, timeout, executor);
  }

  /** Calls the peer with a request that is submitted behind those of the same stream. */
  CompletableFuture<MessageLite> callInOrder(
      int ofStream, MessageLite request, TimeDuration timeout, Executor executor) {
    return call(Operation.ORDERED, ofStream, request, timeout, executor);
  }

  private CompletableFuture<MessageLite> call(
      Operation operation,
      int ofStream,
      MessageLite request,
      TimeDuration timeout,
      Executor executor) {
    long deadline = System.nanoTime() + timeout.toLong(TimeUnit.NANOSECONDS);
    Call call = new Call(operation, ofStream, deadline, executor, new CompletableFuture<>());
    PeerLink to = link();
    if (to == null) {
      call.fail(new SocketException(name + ": this end closed the connection"));
    } else {
      to.call(call, request);
    }
    return call.end();
  }

  private @Nullable PeerLink link() {
    PeerLink current = link.get();
    if (current != null && !current.isOver()) {
      return current;
    }
    synchronized (this) {
      current = link.get();
      if (!closed && (current == null || current.isOver())) {
        current = PeerLink.open(transport, address, name, mostCalls);
        link.set(current);
      }
    }
    return closed ? null : current;
  }

  /** Returns the stream of ordered requests that go on. */
  int stream() {
    return stream.get();
  }

  /**
   * Fails the requests behind a failed one of a stream, and begins another stream for later ones.
   */
  void failStream(int failed, IOException why) {
    if (stream.compareAndSet(failed, failed + 1)) {
      PeerLink current = link.get();
      if (current != null) {
        current.failStream(failed, why);
      }
    }
  }

  /** Waits for a reply, which a deadline ends. */
  static <T> T await(CompletableFuture<T> reply, Object what) throws IOException {
    return IOUtils.getFromFuture(reply, () -> what);
  }

  /** Disconnects; calls in flight fail. Idempotent. */
  @Override
  public void close() {
    PeerLink last;
    synchronized (this) {
      closed = true;
      last = link.getAndSet(null);
    }
    if (last != null) {
      last.close();
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
