// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaSockets;
import java.net.URI;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** A program that makes one call to a {@link GrpcServer}, with requests of 0 bytes to 100 KiB. */
public final class GrpcClient {
  static final String DONE = " answers, each in its place";

  /** Printed each time another {@link #PROGRESS_STEP} answers came. */
  static final String PROGRESS = "more answers";

  private static final int WINDOW = 16;
  private static final int LENGTHS = 200;
  private static final int STEP = 512;
  private static final int PROGRESS_STEP = 20;
  private static final int LIMIT_SECONDS = 120;

  /** The minimum of gRPC. */
  private static final int KEEP_ALIVE_SECONDS = 10;

  private final EventLoopGroup loops;
  private final long count;
  private final int pause;
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private long sent;
  private long received;

  private GrpcClient(EventLoopGroup loops, long count, int pause) {
    this.loops = loops;
    this.count = count;
    this.pause = pause;
  }

  /**
   * Runs the program: the HCA's URI, the server's host and port, the number of requests, and the
   * milliseconds between an answer and the next request.
   */
  public static void main(String[] args) throws Exception {
    RdmaSockets sockets = RdmaSockets.builder(URI.create(args[0])).loops(1).build();
    ManagedChannel channel =
        RdmaGrpc.client(NettyChannelBuilder.forAddress(args[1], Integer.parseInt(args[2])), sockets)
            .usePlaintext()
            .keepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS)
            .build();
    long count = Long.parseLong(args[3]);
    try {
      new GrpcClient(sockets.group(), count, Integer.parseInt(args[4])).call(channel);
    } catch (ExecutionException e) {
      System.out.println(Status.fromThrowable(e));
      System.exit(EchoClient.FAILED);
    }
    channel.shutdown().awaitTermination(LIMIT_SECONDS, TimeUnit.SECONDS);
    sockets.close();
    System.out.println(count + DONE);
    System.exit(0);
  }

  private void call(ManagedChannel channel) throws Exception {
    CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(LIMIT_SECONDS, TimeUnit.SECONDS);
    var answers = new Answers();
    StreamObserver<byte[]> requests =
        ClientCalls.asyncBidiStreamingCall(channel.newCall(GrpcServer.ECHO, options), answers);
    answers.requests.complete(requests);
    // Only the loop's thread sends, as a {@code StreamObserver} is not thread-safe.
    for (int i = 0; i < WINDOW; i++) {
      loops.execute(() -> sendNext(requests));
    }
    end.get(2 * LIMIT_SECONDS, TimeUnit.SECONDS);
  }

  private void sendNext(StreamObserver<byte[]> requests) {
    if (sent < count) {
      requests.onNext(message(sent++));
      if (sent == count) {
        requests.onCompleted();
      }
    }
  }

  private static byte[] message(long number) {
    byte[] message = new byte[(int) (number % LENGTHS) * STEP];
    Arrays.fill(message, (byte) number);
    return message;
  }

  private final class Answers implements StreamObserver<byte[]> {
    private final CompletableFuture<StreamObserver<byte[]>> requests = new CompletableFuture<>();

    @Override
    public void onNext(byte[] answer) {
      if (!Arrays.equals(answer, message(received))) {
        end.completeExceptionally(
            new IllegalStateException("answer " + received + ": " + answer.length + " bytes"));
      }
      received++;
      if (received % PROGRESS_STEP == 0) {
        System.out.println(PROGRESS);
      }
      loops
          .schedule(() -> sendNext(requests.join()), pause, TimeUnit.MILLISECONDS)
          .addListener(
              sending -> {
                if (!sending.isSuccess()) {
                  end.completeExceptionally(sending.cause());
                }
              });
    }

    @Override
    public void onError(Throwable failure) {
      end.completeExceptionally(failure);
    }

    @Override
    public void onCompleted() {
      if (received == count) {
        end.complete(null);
      } else {
        end.completeExceptionally(new IllegalStateException(received + " answers"));
      }
    }
  }
}
