// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PeerUriTest {
  @ParameterizedTest
  @CsvSource({
    "emulated://ratis, 10.0.0.2:7000, emulated://ratis:7000",
    "emulated://ratis, other.example:7000, emulated://ratis:7000",
    "emulated://ratis?max-queue-pairs=4, 0.0.0.0:7000, emulated://ratis:7000?max-queue-pairs=4",
    "shm://ratis, 127.0.0.1:7000, shm://ratis:7000",
    "roce://10.0.0.1, 10.0.0.2:7000, roce://10.0.0.2:7000",
    "roce://10.0.0.1?mtu=1024, other.example:7000, roce://other.example:7000?mtu=1024",
    "roce://10.0.0.1, 0.0.0.0:7000, roce://10.0.0.1:7000",
    "roce://10.0.0.1, localhost:7000, roce://10.0.0.1:7000",
    "roce://10.0.0.1, 2001:db8::2:7000, roce://[2001:db8::2]:7000"
  })
  void givesAPeerSchemeAndOptions(URI hca, String peer, URI expected) {
    assertThat(PeerUri.of(hca).of(peer)).isEqualTo(expected);
  }

  @Test
  void listensOnTheHostOfTheHcaUnlessToldOtherwise() {
    PeerUri addresses = PeerUri.of(URI.create("roce://10.0.0.1"));

    assertThat(addresses.own(null, 7000)).hasToString("roce://10.0.0.1:7000");
    assertThat(addresses.own("10.0.0.3", 7000)).hasToString("roce://10.0.0.3:7000");
  }

  @Test
  void refusesAPeerWithoutPort() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PeerUri.of(URI.create("emulated://ratis")).of("somewhere"))
        .withMessage("address of a peer: somewhere (expected: host and port)");
  }

  @Test
  void refusesAnHcaWithoutHost() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PeerUri.of(URI.create("emulated:ratis")))
        .withMessageContaining("raft.verbena.uri: emulated:ratis (expected: a scheme and a host)");
  }
}
