// SPDX-License-Identifier: Apache-2.0
package io.verbena.springboot.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCalls;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.grpc.client.GrpcChannelFactory;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;

/** A gRPC service of Spring Boot whose sockets are swapped by a property. */
@Tag("once")
class SpringGrpcTest {
  private static final byte[] BODY = new byte[1 << 20];

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

  private static byte[] echo(ConfigurableApplicationContext service) {
    int port = service.getBean(GrpcServerLifecycle.class).getPort();
    ManagedChannel channel =
        service.getBean(GrpcChannelFactory.class).createChannel("static://localhost:" + port);
    return ClientCalls.blockingUnaryCall(
        channel,
        GrpcEchoService.ECHO,
        CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS),
        BODY);
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

  @Test
  void staysOnSocketsIfSaidSo() {
    try (var service = start("--verbena.hca=emulated://spring-grpc-off", "--verbena.grpc=false")) {
      assertThat(echo(service)).isEqualTo(BODY);

      assertThat(bytesByRdma(service)).isZero();
    }
  }
}
