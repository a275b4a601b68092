// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

/** Tests which of several devices an address selects. */
@InSoftRoceGuest(nodes = 2)
class DeviceChoiceTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static String opened(String address) {
    URI uri = URI.create(address);
    try (Device device = VerbsProviders.find(uri).open(uri)) {
      return device.attributes().name();
    }
  }

  @Test
  void listsAllOfThem() {
    assertThat(VerbsProviders.find(URI.create("disni://x")).deviceNames())
        .containsExactlyInAnyOrder("rxe0", "rxe1");
  }

  @ParameterizedTest
  @CsvSource({
    "disni://10.77.0.1, rxe0",
    "disni://10.77.0.2, rxe1",
    "disni://[fd77::2], rxe1",
    "disni://10.77.0.1?device=rxe1, rxe1",
    "disni://10.77.0.2?source=10.77.0.1, rxe0",
    "disni://10.77.0.2?device=rxe0&gid=1, rxe0",
  })
  void takesTheOneThatTheAddressOrAnOptionNames(String address, String device) {
    assertThat(opened(address)).isEqualTo(device);
  }

  @Test
  void namesThoseThatAreThereForOneThatIsNot() {
    assertThatThrownBy(() -> opened("disni://10.77.0.1?device=mlx5_0"))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.NO_DEVICE))
        .hasMessageContaining("mlx5_0")
        .hasMessageContaining("rxe0")
        .hasMessageContaining("rxe1");
  }

  @ParameterizedTest
  @CsvSource({
    "disni://10.77.0.2:21001, source=10.77.0.1",
    "disni://10.77.0.2:21002, device=rxe0",
    "disni://[fd77::2]:21003, source=fd77::1",
  })
  void connectsFromTheOtherNode(String listening, String from) {
    RdmaTransport transport = RdmaTransport.create();
    try {
      RdmaServer server =
          transport.bind(URI.create(listening), c -> c.send(c.receive())).block(LIMIT);
      RdmaConnection client = transport.connect(URI.create(listening + "?" + from)).block(LIMIT);
      client.send(Mono.just(client.memory().allocator().buffer().writeLong(42))).subscribe();
      Long echoed =
          client
              .receive()
              .next()
              .map(
                  message -> {
                    try {
                      return message.readLong();
                    } finally {
                      message.release();
                    }
                  })
              .block(LIMIT);

      assertThat(echoed).isEqualTo(42);
      client.close().block(LIMIT);
      server.dispose();
    } finally {
      transport.dispose();
    }
  }
}
