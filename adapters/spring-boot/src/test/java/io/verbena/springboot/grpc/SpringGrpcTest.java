// SPDX-License-Identifier: Apache-2.0
package io.verbena.springboot.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCalls;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.grpc.client.GrpcChannelFactory;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;

/** Tests a Spring Boot gRPC service whose sockets are replaced by a property. */
@Tag("once")
class SpringGrpcTest {
  private static final byte[] BODY = new byte[1 << 20];
  private static final int SECONDS = 60;

  private static ConfigurableApplicationContext start(String... options) {
    return new SpringApplication(GrpcEchoService.class)
        .run(
            Stream.concat(
                    Stream.of(
                        "--server.port=0",
                        "--spring.grpc.server.port=0",
                        "--logging.level.root=off",
                        "--spring.main.banner-mode=off"),
                    Stream.of(options))
                .toArray(String[]::new));
  }

  private static ManagedChannel channel(
      ConfigurableApplicationContext client, ConfigurableApplicationContext service) {
    int port = service.getBean(GrpcServerLifecycle.class).getPort();
    return client.getBean(GrpcChannelFactory.class).createChannel("static://localhost:" + port);
  }

  private static CallOptions options() {
    return CallOptions.DEFAULT.withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
  }

  private static byte[] echo(ConfigurableApplicationContext service) {
    return ClientCalls.blockingUnaryCall(
        channel(service, service), GrpcEchoService.ECHO, options(), BODY);
  }

  private static double bytesByRdma(ConfigurableApplicationContext service) {
    return service.getBean(MeterRegistry.class).find("verbena.data").functionCounters().stream()
        .mapToDouble(FunctionCounter::count)
        .sum();
  }

  @Test
  void servesAndCallsOverRdma() {
    try (var service = start("--verbena.hca=emulated://spring-grpc")) {
      assertThat(echo(service)).isEqualTo(BODY);

      assertThat(bytesByRdma(service)).as("there and back").isGreaterThan(2.0 * BODY.length);
    }
  }

  /** If WebFlux used the sockets, they would be created before the channels' factory. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void endsCallsBeforeItsSocketsClose(boolean http) throws Exception {
    String hca = "--verbena.hca=emulated://spring-grpc-close";
    try (var service = start(hca)) {
      ListenableFuture<byte[]> call;
      CompletableFuture<Void> closed;
      Runnable answer;
      try (var client = start(hca, "--verbena.http=" + http)) {
        ManagedChannel channel = channel(client, service);
        call = ClientCalls.futureUnaryCall(channel.newCall(GrpcEchoService.WAIT, options()), BODY);
        answer =
            service.getBean(GrpcEchoService.Waiting.class).calls.poll(SECONDS, TimeUnit.SECONDS);
        assertThat(answer).isNotNull();
        closed = CompletableFuture.runAsync(client::close);
        Awaitility.await().atMost(SECONDS, TimeUnit.SECONDS).until(channel::isShutdown);
        answer.run();
        closed.get(SECONDS, TimeUnit.SECONDS);
      }
      assertThat(call.get(SECONDS, TimeUnit.SECONDS)).isEqualTo(BODY);
    }
  }

  @Test
  void staysOnSocketsIfSaidSo() {
    try (var service = start("--verbena.hca=emulated://spring-grpc-off", "--verbena.grpc=false")) {
      assertThat(echo(service)).isEqualTo(BODY);

      assertThat(bytesByRdma(service)).isZero();
    }
  }
}
