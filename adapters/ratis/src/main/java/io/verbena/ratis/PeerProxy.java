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
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.IOUtils;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;

/**
 * Calls one peer. The first call connects, and so does the next one after the connection has ended.
 * Nothing is sent twice: the caller decides whether to try again. Thread-safe.
 */
final class PeerProxy implements Closeable {
  private final RdmaTransport transport;
  private final URI address;
  private final String name;
  private final int mostCalls;
  private final AtomicReference<@Nullable PeerLink> link = new AtomicReference<>();
  private volatile boolean closed;

  /**
   * @param name names the caller and the peer, for messages
   * @param mostCalls the most calls in flight
   */
  PeerProxy(RdmaTransport transport, URI address, String name, int mostCalls) {
    this.transport = transport;
    this.address = address;
    this.name = name;
    this.mostCalls = mostCalls;
  }

  /**
   * Returns a proxy of a peer; blocks while the HCA's host name is looked up.
   *
   * @param name names the caller, for messages
   * @param mostCalls the most calls in flight
   * @throws IOException if there is no address or transport now; after any other exception Ratis
   *     would not try again
   */
  static PeerProxy of(
      RaftPeer peer, TransportLease lease, Supplier<PeerUri> addresses, String name, int mostCalls)
      throws IOException {
    String between = name + "->" + peer.getId();
    try {
      return new PeerProxy(lease.get(), addresses.get().of(peer.getAddress()), between, mostCalls);
    } catch (RuntimeException e) {
      throw new IOException(between + ": no address to call: " + e.getMessage(), e);
    }
  }

  /**
   * Calls the peer.
   *
   * @param timeout the time from now to the reply
   * @param executor runs actions that depend on the reply; {@code Runnable::run} for the completion
   *     loop, which must not be blocked
   * @return the operation's reply, or an {@link IOException}
   */
  CompletableFuture<MessageLite> call(
      Operation operation, MessageLite request, TimeDuration timeout, Executor executor) {
    Call call = call(operation, timeout, executor);
    PeerLink to = link();
    if (to == null) {
      call.fail(closed());
    } else {
      to.call(call, request);
    }
    return call.end();
  }

  /** Returns an error text if a request is too long, and would end the connection; else null. */
  @Nullable String tooLong(MessageLite request) {
    String tooLong = CallLayout.tooLong(request, transport.options().maxMessageSize());
    return tooLong == null ? null : name + ": " + tooLong;
  }

  /** Calls the peer with a request that is submitted after those before it in its window. */
  CompletableFuture<MessageLite> callInOrder(
      RaftClientRequestProto request, TimeDuration timeout, Executor executor) {
    Call call = call(Operation.ORDERED, timeout, executor);
    PeerLink to = link();
    if (to == null) {
      call.fail(closed());
    } else {
      to.callInOrder(call, request);
    }
    return call.end();
  }

  private static Call call(Operation operation, TimeDuration timeout, Executor executor) {
    long deadline = System.nanoTime() + timeout.toLong(TimeUnit.NANOSECONDS);
    return new Call(operation, 0, deadline, executor, new CompletableFuture<>());
  }

  private SocketException closed() {
    return new SocketException(name + ": this end closed the connection");
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

  /** Waits for a reply, at most until the call's deadline. */
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
