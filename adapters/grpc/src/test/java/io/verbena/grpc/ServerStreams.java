// SPDX-License-Identifier: Apache-2.0
package io.verbena.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.verbena.core.testing.Addresses;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Counts the open streams of a server. A client learns of the end of a call only once the server
 * has no open stream: gRPC's suite then allows the server only a second, which is too short on a
 * busy machine.
 */
final class ServerStreams extends ServerStreamTracer.Factory implements ClientInterceptor {
  private static final long LIMIT = Addresses.within(Duration.ofSeconds(20)).toNanos();

  private int open;

  @Override
  public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
    opened();
    return new ServerStreamTracer() {
      @Override
      public void streamClosed(Status status) {
        closed();
      }
    };
  }

  private synchronized void opened() {
    open++;
  }

  private synchronized void closed() {
    open--;
    notifyAll();
  }

  /** Waits until no stream is open. After the limit the suite itself reports what is missing. */
  private synchronized void awaitNone() {
    long from = System.nanoTime();
    try {
      for (long left = LIMIT; open > 0 && left > 0; left = LIMIT - (System.nanoTime() - from)) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<Q, A>(next.newCall(method, options)) {
      @Override
      public void start(Listener<A> listener, Metadata headers) {
        super.start(
            new SimpleForwardingClientCallListener<A>(listener) {
              @Override
              public void onClose(Status status, Metadata trailers) {
                awaitNone();
                super.onClose(status, trailers);
              }
            },
            headers);
      }
    };
  }
}
