// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.grpc.testing.integration.Messages.Payload;
import io.grpc.testing.integration.Messages.SimpleRequest;
import io.grpc.testing.integration.Messages.SimpleResponse;
import io.grpc.testing.integration.TestServiceGrpc;
import io.grpc.testing.integration.TestServiceGrpc.TestServiceStub;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaChannelOption;
import io.verbena.netty.RdmaSockets;
import java.net.URI;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A program that calls all {@link MixedServer}s in parallel until it is terminated. */
public final class MixedClient {
  /** The argument of a client that uses plain sockets without Verbena. */
  static final String SOCKETS = "sockets";

  /** Precedes {@code host=count} of the calls answered so far, for each server. */
  static final String ANSWERED = "answered: ";

  /** Precedes the server and the status of a failed call to it. */
  static final String FAILED = "failed: ";

  private static final int CALLERS = 2;
  private static final int LENGTH = 10_000;
  private static final int PAUSE_MILLIS = 20;
  private static final int PERIOD_MILLIS = 300;
  private static final int RDMA_TIMEOUT_MILLIS = 1_000;
  private static final int LIMIT_SECONDS = 60;

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final SimpleRequest request =
      SimpleRequest.newBuilder()
          .setPayload(Payload.newBuilder().setBody(ByteString.copyFrom(new byte[LENGTH])))
          .build();

  private MixedClient() {}

  /**
   * Runs the program: the HCA's URI or {@value #SOCKETS}, then the host and port of each server.
   */
  public static void main(String[] args) throws InterruptedException {
    var client = new MixedClient();
    RdmaSockets sockets =
        args[0].equals(SOCKETS)
            ? null
            : RdmaSockets.builder(URI.create(args[0])).loops(1).orTcp().build();
    List<Callers> all =
        Stream.of(args)
            .skip(1)
            .map(each -> client.new Callers(each, connect(sockets, each)))
            .toList();
    all.forEach(Callers::start);
    while (true) {
      TimeUnit.MILLISECONDS.sleep(PERIOD_MILLIS);
      System.out.println(
          ANSWERED
              + all.stream()
                  .map(each -> each.server + '=' + each.answered)
                  .collect(Collectors.joining(" ")));
    }
  }

  private static ManagedChannel connect(@Nullable RdmaSockets sockets, String server) {
    NettyChannelBuilder channel = NettyChannelBuilder.forTarget(server);
    if (sockets != null) {
      channel =
          RdmaGrpc.client(channel, sockets)
              .withOption(RdmaChannelOption.RDMA_TIMEOUT_MILLIS, RDMA_TIMEOUT_MILLIS)
              // A host that gets an HCA is asked over RDMA at once.
              .withOption(RdmaChannelOption.MEDIUM_MEMORY_MILLIS, 0);
    }
    return channel.usePlaintext().build();
  }

  /** The callers of one server. */
  private final class Callers {
    private final String server;
    private final TestServiceStub stub;
    private final AtomicLong answered = new AtomicLong();

    private Callers(String server, ManagedChannel channel) {
      this.server = server;
      stub = TestServiceGrpc.newStub(channel).withWaitForReady();
    }

    private void start() {
      for (int i = 0; i < CALLERS; i++) {
        call();
      }
    }

    private void call() {
      stub.withDeadlineAfter(LIMIT_SECONDS, TimeUnit.SECONDS)
          .unaryCall(
              request,
              new StreamObserver<>() {
                @Override
                public void onNext(SimpleResponse answer) {
                  if (answer.getPayload().equals(request.getPayload())) {
                    answered.incrementAndGet();
                  } else {
                    System.out.println(FAILED + server + " another answer: " + answer);
                  }
                }

                @Override
                public void onError(Throwable failure) {
                  System.out.println(FAILED + server + ' ' + Status.fromThrowable(failure));
                  next();
                }

                @Override
                public void onCompleted() {
                  next();
                }
              });
    }

    // An exception ends its caller, which the test notices by the missing answers.
    @SuppressWarnings("FutureReturnValueIgnored")
    private void next() {
      timer.schedule(this::call, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }
}
