// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;

/**
 * Makes calls, one at a time on each of its lines. The end of a call makes the next call, on the
 * thread that delivers the answers; the first calls are made on that thread, too.
 */
final class Caller {
  private final Channel channel;
  private final CompletableFuture<Throwable> serverFailure;
  private final Outstanding[] idle;
  private int idleCount;
  private long toBegin;
  private long toEnd;
  private boolean beginning;
  private CompletableFuture<Void> done = new CompletableFuture<>();

  /**
   * Creates a caller.
   *
   * @param serverFailure completes with the reason if the server fails, as gRPC does not tell it
   *     clients; never completes if the server is in another process, which then ends
   */
  Caller(Channel channel, CompletableFuture<Throwable> serverFailure, int lines, int size) {
    this.channel = channel;
    this.serverFailure = serverFailure;
    this.idle = new Outstanding[lines];
    for (int i = 0; i < lines; i++) {
      end(new Outstanding(new Line(i, size)));
    }
  }

  /** Makes {@code calls} calls; {@code done} completes when the last answer was checked. */
  void begin(long calls, CompletableFuture<Void> done) {
    this.done = done;
    toBegin = calls;
    toEnd = calls;
    beginCalls();
  }

  /**
   * Begins calls on all idle lines. Returns at once if it is already running, as when a transport
   * without threads ends a call within this method.
   */
  private void beginCalls() {
    if (beginning) {
      return;
    }
    beginning = true;
    while (idleCount > 0 && toBegin > 0) {
      toBegin--;
      Outstanding next = idle[--idleCount];
      ClientCalls.asyncUnaryCall(
          channel.newCall(Echo.METHOD, CallOptions.DEFAULT), next.line.next(), next);
    }
    beginning = false;
  }

  private void end(Outstanding call) {
    idle[idleCount++] = call;
  }

  private void ended(Outstanding call) {
    end(call);
    if (--toEnd == 0) {
      done.complete(null);
    } else {
      beginCalls();
    }
  }

  private void failed(Throwable cause) {
    done.completeExceptionally(serverFailure.getNow(cause));
  }

  private final class Outstanding implements StreamObserver<byte[]> {
    private final Line line;

    private Outstanding(Line line) {
      this.line = line;
    }

    @Override
    public void onNext(byte[] answer) {
      try {
        line.accept(answer);
      } catch (RuntimeException e) {
        failed(e);
      }
    }

    @Override
    public void onError(Throwable cause) {
      failed(cause);
    }

    @Override
    public void onCompleted() {
      ended(this);
    }
  }
}
