package io.verbena.it.containers.roce;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaIoHandler;
import java.net.URI;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A program: one call of a {@link GrpcServer}, with requests of 0 bytes to 100 KiB. */
public final class GrpcClient {
  static final int MESSAGES = 200;
  static final String DONE = MESSAGES + " answers, each in its place";
  private static final int STEP = 512;
  private static final int LIMIT_SECONDS = 30;

  private GrpcClient() {}

  /** Runs it: the HCA's URI, and the server's host and port. */
  public static void main(String[] args) throws Exception {
    EventLoopGroup loops =
        new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory(URI.create(args[0])));
    ManagedChannel channel =
        RdmaGrpc.client(NettyChannelBuilder.forAddress(args[1], Integer.parseInt(args[2])), loops)
            .usePlaintext()
            .build();
    var answers = new Answers();
    StreamObserver<byte[]> requests =
        ClientCalls.asyncBidiStreamingCall(
            channel.newCall(GrpcServer.ECHO, CallOptions.DEFAULT), answers);
    for (int i = 0; i < MESSAGES; i++) {
      requests.onNext(message(i));
    }
    requests.onCompleted();
    answers.end.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    channel.shutdown().awaitTermination(LIMIT_SECONDS, TimeUnit.SECONDS);
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).await(LIMIT_SECONDS, TimeUnit.SECONDS);
    System.out.println(DONE);
    System.exit(0);
  }

  private static byte[] message(int number) {
    byte[] message = new byte[number * STEP];
    Arrays.fill(message, (byte) number);
    return message;
  }

  private static final class Answers implements StreamObserver<byte[]> {
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private int received;

    @Override
    public void onNext(byte[] answer) {
      if (!Arrays.equals(answer, message(received))) {
        end.completeExceptionally(
            new IllegalStateException("answer " + received + ": " + answer.length + " bytes"));
      }
      received++;
    }

    @Override
    public void onError(Throwable failure) {
      end.completeExceptionally(failure);
    }

    @Override
    public void onCompleted() {
      if (received == MESSAGES) {
        end.complete(null);
      } else {
        end.completeExceptionally(new IllegalStateException(received + " answers"));
      }
    }
  }
}
