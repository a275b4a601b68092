// SPDX-License-Identifier: Apache-2.0
package io.verbena.springboot.echo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.verbena.RdmaConnection;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.netty.SocketKind;
import io.verbena.netty.SocketsUnavailableException;
import io.verbena.springboot.VerbenaProperties;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.messaging.rsocket.RSocketRequester;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import reactor.netty.tcp.TcpClient;

/** Tests a Spring Boot service whose sockets are replaced by a property. */
@Tag("once")
class SpringBootTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final List<String> OPTIONS =
      List.of(
          "--server.port=0",
          "--spring.grpc.server.port=0",
          "--spring.http.codecs.max-in-memory-size=10MB",
          "--logging.level.root=off",
          "--spring.main.banner-mode=off");

  private static ConfigurableApplicationContext start(String... options) {
    List<String> all = new ArrayList<>(OPTIONS);
    all.addAll(Arrays.asList(options));
    return SpringApplication.run(EchoService.class, all.toArray(new String[0]));
  }

  private static byte[] post(ConfigurableApplicationContext from, String port, byte[] body) {
    return from.getBean(WebClient.Builder.class)
        .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(-1))
        .build()
        .post()
        .uri("http://localhost:" + port + "/echo")
        .bodyValue(body)
        .retrieve()
        .bodyToMono(byte[].class)
        .block(LIMIT);
  }

  private static Health health(ConfigurableApplicationContext service) {
    return service.getBean("verbenaHealthIndicator", HealthIndicator.class).health();
  }

  private static String port(ConfigurableApplicationContext service) {
    return service.getEnvironment().getRequiredProperty("local.server.port");
  }

  @Test
  void servesAndCallsByHttp() {
    try (var service = start("--verbena.hca=emulated://spring-http")) {
      byte[] body = new byte[1 << 20];
      body[body.length - 1] = 7;

      assertThat(post(service, port(service), body)).isEqualTo(body);

      MeterRegistry meters = service.getBean(MeterRegistry.class);
      assertThat(
              meters.find("verbena.data").functionCounters().stream()
                  .mapToDouble(FunctionCounter::count)
                  .sum())
          .as("bytes that went by RDMA, there and back")
          .isGreaterThan(2.0 * body.length);
    }
  }

  @Test
  void leavesTheEscapesOfAnAddressAsTheyAre() {
    String hca = "roce://127.0.0.1?key-file=/etc/my%20app/wire%2B.key";
    Binder binder = new Binder(new MapConfigurationPropertySource(Map.of("verbena.hca", hca)));

    VerbenaProperties properties = binder.bind("verbena", VerbenaProperties.class).get();

    assertThat(properties.hca()).isEqualTo(URI.create(hca));
  }

  @ParameterizedTest
  @CsvSource({
    "loops, -1, verbena.loops: -1 (expected: >= 0)",
    "rdma-timeout, 0s, verbena.rdma-timeout: PT0S (expected: >= 1 ms)",
  })
  void refusesAValueBelowItsLimit(String property, String value, String refusal) {
    assertThatThrownBy(
            () ->
                start(
                    "--verbena.hca=emulated://spring-refused",
                    "--verbena." + property + "=" + value))
        .hasRootCauseMessage(refusal);
  }

  /**
   * Neither library is on the class path of these tests, so the error shows which kind was
   * requested.
   */
  @ParameterizedTest
  @CsvSource({"epoll, EPOLL", "io-uring, IO_URING", "io_uring, IO_URING"})
  void asksForTheSocketsThatAreSet(String value, SocketKind kind) {
    assertThatThrownBy(
            () -> start("--verbena.hca=emulated://spring-sockets", "--verbena.sockets=" + value))
        .hasStackTraceContaining(SocketsUnavailableException.class.getName())
        .hasStackTraceContaining("build: " + kind + " sockets are not available");
  }

  @Test
  void servesRSocket() {
    try (var service =
        start("--verbena.hca=emulated://spring-rsocket", "--spring.rsocket.server.port=7000")) {
      TcpClient client =
          TcpClient.create()
              .runOn(service.getBean(ReactorResourceFactory.class).getLoopResources())
              .host("localhost")
              .port(7000);
      RSocketRequester requester =
          service
              .getBean(RSocketRequester.Builder.class)
              .transport(TcpClientTransport.create(client));

      List<Integer> numbers =
          requester
              .route("count")
              .data(1000)
              .retrieveFlux(Integer.class)
              .collectList()
              .block(LIMIT);

      assertThat(numbers).hasSize(1000).startsWith(1, 2).endsWith(1000);
      requester.dispose();
    }
  }

  @Test
  void callsAServiceInAnotherProcess() throws IOException {
    String hca = "--verbena.hca=shm://spring" + ProcessHandle.current().pid();
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    line.addAll(List.of("-cp", System.getProperty("java.class.path")));
    line.add(EchoService.class.getName());
    line.addAll(OPTIONS);
    line.add(hca);
    Process other = new ProcessBuilder(line).redirectError(Redirect.INHERIT).start();
    try (var service = start(hca)) {
      BufferedReader out = other.inputReader(StandardCharsets.UTF_8);
      String said = out.readLine();
      assertThat(said).as("the first line of the other process").startsWith(EchoService.SERVES);

      byte[] body = {1, 2, 3};
      assertThat(post(service, said.substring(EchoService.SERVES.length()), body)).isEqualTo(body);
    } finally {
      other.destroyForcibly().onExit().join();
    }
  }

  /** Both kinds of client reach the service, and the service reaches both kinds of service. */
  @Test
  void talksToServicesWithoutRdma() {
    try (var plain = start();
        var service =
            start(
                "--verbena.hca=emulated://spring-tcp",
                "--verbena.tcp=true",
                // On a busy machine the first connect loads classes for longer than the default
                // timeout.
                "--verbena.rdma-timeout=" + LIMIT.toSeconds() + "s")) {
      byte[] body = {1, 2, 3};

      assertThat(post(service, port(service), body)).isEqualTo(body);
      assertThat(post(service, port(plain), body)).isEqualTo(body);
      assertThat(post(plain, port(service), body)).isEqualTo(body);

      MeterRegistry meters = service.getBean(MeterRegistry.class);
      assertThat(chosen(meters, "emulated")).as("both ends of one").isEqualTo(2);
      assertThat(chosen(meters, "tcp")).as("one end of each").isEqualTo(2);
    }
  }

  private static double chosen(MeterRegistry meters, String medium) {
    return meters.find("verbena.connections.chosen").tags("medium", medium).counters().stream()
        .mapToDouble(Counter::count)
        .sum();
  }

  @Test
  void needsNoHcaWhereTcpTakesItsPlace() {
    try (var service = start("--verbena.hca=disni://127.0.0.1", "--verbena.tcp=true")) {
      assertThat(post(service, port(service), new byte[] {1})).containsExactly(1);

      Health health = health(service);
      assertThat(health.getStatus()).isEqualTo(Status.UP);
      assertThat(health.getDetails()).containsEntry("device", "none, connections use TCP only");
    }
  }

  @Test
  void tellsTheHealthOfTheHca() {
    try (var service = start("--verbena.hca=emulated://spring-health")) {
      post(service, port(service), new byte[1]);

      Health health = health(service);

      assertThat(health.getStatus()).isEqualTo(Status.UP);
      assertThat(health.getDetails())
          .containsEntry("hca", "emulated://spring-health")
          .containsEntry("device", "emulated0")
          .containsEntry("port", "active")
          .containsEntry("mtu", 4096);
      assertThat((Long) health.getDetails().get("queuePairs")).isPositive();
      assertThat((Long) health.getDetails().get("registeredBytes")).isPositive();
    }
  }

  @Test
  void isDownWithoutAProvider() {
    try (var service = start("--verbena.hca=disni://127.0.0.1", "--verbena.http=false")) {
      Health health = health(service);

      assertThat(health.getStatus()).isEqualTo(Status.DOWN);
      assertThat(health.getDetails().get("error").toString()).contains("no verbs provider");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"verbena", "defaults"})
  void tellsNoHealthWhereItIsSwitchedOff(String indicator) {
    try (var service =
        start(
            "--verbena.hca=emulated://spring-no-health",
            "--management.health." + indicator + ".enabled=false")) {
      assertThat(service.containsBean("verbenaHealthIndicator")).isFalse();
    }
  }

  @Test
  void givesProgramsATransport() {
    try (var service = start("--verbena.hca=emulated://spring-transport")) {
      RdmaTransport transport = service.getBean(RdmaTransport.class);
      RdmaServer server =
          transport
              .bind(URI.create("emulated://spring-echo"), c -> c.send(c.receive()))
              .blockOptional(LIMIT)
              .orElseThrow();
      RdmaConnection client =
          transport.connect(server.address()).blockOptional(LIMIT).orElseThrow();

      assertThat(client.close().then(Mono.just(true)).block(LIMIT)).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"--other", "--verbena.hca=", "--verbena.hca=${NOT_SET:}"})
  void leavesSocketsAloneWithoutAnHca(String option) {
    try (var service = start(option)) {
      assertThat(service.getBeansOfType(RdmaOptions.class)).isEmpty();
      assertThat(service.getBeansOfType(HealthIndicator.class))
          .doesNotContainKey("verbenaHealthIndicator");
      assertThat(post(service, port(service), new byte[] {1})).containsExactly(1);
    }
  }
}
