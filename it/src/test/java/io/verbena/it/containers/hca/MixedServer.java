// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.grpc.testing.integration.Messages.SimpleRequest;
import io.grpc.testing.integration.Messages.SimpleResponse;
import io.grpc.testing.integration.TestServiceGrpc.TestServiceImplBase;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.verbena.RdmaOptions;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaSockets;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A program that serves gRPC on a host with or without an HCA: over RDMA for clients that also have
 * one, and over TCP. When terminated, it ends its calls first.
 */
public final class MixedServer {
  /** The file with the URI of the host's HCA; on a host without one, no device has that URI. */
  static final String HCA = "/hca";

  static final String READY = "serving at ";

  /** Precedes {@code medium=count} of the connections so far, for each medium. */
  static final String ACCEPTED = "accepted: ";

  private static final int PERIOD_MILLIS = 300;
  private static final int LIMIT_SECONDS = 20;

  private MixedServer() {}

  /** Runs the program: the port. */
  public static void main(String[] args) throws IOException, InterruptedException {
    var registry = new SimpleMeterRegistry();
    RdmaSockets sockets =
        RdmaSockets.builder(URI.create(Files.readString(Path.of(HCA))))
            .options(RdmaOptions.builder().meters(new VerbenaMeters(registry)).build())
            .loops(1)
            .orTcp()
            .build();
    Server server =
        RdmaGrpc.server(NettyServerBuilder.forPort(Integer.parseInt(args[0])), sockets)
            .addService(new Echo())
            // Clients reconnect now and then, and so learn which media the host has by then.
            .maxConnectionAge(5, TimeUnit.SECONDS)
            .build()
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(server, sockets)));
    System.out.println(READY + server.getPort());
    while (!server.awaitTermination(PERIOD_MILLIS, TimeUnit.MILLISECONDS)) {
      System.out.println(ACCEPTED + accepted(registry));
    }
  }

  private static void end(Server server, RdmaSockets sockets) {
    server.shutdown();
    try {
      if (!server.awaitTermination(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        System.out.println("calls did not end within " + LIMIT_SECONDS + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    sockets.close();
  }

  private static String accepted(SimpleMeterRegistry registry) {
    return registry.find("verbena.connections.chosen").counters().stream()
        .collect(
            Collectors.groupingBy(
                each -> String.valueOf(each.getId().getTag("medium")),
                Collectors.summingLong(MixedServer::count)))
        .toString();
  }

  private static long count(Counter counter) {
    return (long) counter.count();
  }

  /** Answers each payload with itself. */
  private static final class Echo extends TestServiceImplBase {
    @Override
    public void unaryCall(SimpleRequest request, StreamObserver<SimpleResponse> answers) {
      answers.onNext(SimpleResponse.newBuilder().setPayload(request.getPayload()).build());
      answers.onCompleted();
    }
  }
}
