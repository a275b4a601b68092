// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.rnics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/**
 * Tests transports with peers in the networks of both ports of an RNIC: 10.0.3.0/24 at the first
 * port, 10.0.13.0/24 at the second. Runs in a JVM of {@link TwoNetworksTest}.
 */
class TwoNetworks {
  private static final String FIRST = "10.0.3.1";
  private static final String SECOND = "10.0.13.1";
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final RdmaTransport serverSide = RdmaTransport.create();
  private final RdmaTransport clientSide = RdmaTransport.create();
  private final BlockingQueue<RdmaConnection> accepted = new LinkedBlockingQueue<>();

  @AfterEach
  void dispose() {
    serverSide.dispose();
    clientSide.dispose();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?device=mlx5_3", "?gid=3", "?device=mlx5_3&gid=2", "?tos=8"})
  void connectsToEachFromTheAddressThatItHasThere(String options) throws Exception {
    assertConnects(FIRST, "", options);
    assertConnects(SECOND, "", options);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?device=mlx5_3", "?gid=3", "?device=mlx5_3&gid=2", "?tos=8"})
  void listensInEach(String options) throws Exception {
    assertConnects(FIRST, options, "");
    assertConnects(SECOND, options, "");
  }

  @Test
  void hasOneDeviceForAllHostsOfAPort() {
    assertThat(clientSide.memory(address(SECOND, "?gid=3")))
        .isSameAs(clientSide.memory(address("10.0.13.7", "?gid=3")))
        .isNotSameAs(clientSide.memory(address(FIRST, "?gid=3")));
    assertThat(clientSide.memory(address(SECOND, "")))
        .isSameAs(clientSide.memory(address(FIRST, "")));
  }

  @Test
  void connectsFromTheGidOfEachOfTwoDevices() throws Exception {
    assumeTrue(VerbsProviders.find(address(FIRST, "")).deviceNames().size() > 1);

    assertConnects("10.0.1.1", "", "?gid=3");
    assertConnects(FIRST, "", "?gid=3");
  }

  private static URI address(String host, String options) {
    return URI.create("disni://" + host + ":0" + options);
  }

  /** Listens on an address, and connects to it from the same address. */
  private void assertConnects(String host, String listenOptions, String connectOptions)
      throws InterruptedException {
    RdmaServer server =
        serverSide
            .bind(
                address(host, listenOptions),
                connection -> {
                  accepted.add(connection);
                  return Mono.never();
                })
            .block(LIMIT);
    String target = "disni://" + host + ":" + server.address().getPort() + connectOptions;

    RdmaConnection client = clientSide.connect(URI.create(target)).block(LIMIT);

    assertThat(client).isNotNull();
    RdmaConnection connection = accepted.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
    assertThat(connection).isNotNull();
    assertThat(connection.peer()).contains("//" + host + ":");
  }
}
