// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.RoceProvider;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests {@code roce://} addresses and the devices that they open. */
class RoceAddressTest {
  private static final String HOST = Loopbacks.address(3);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "roce:127.0.0.1             | INVALID       | roce://host:port",
        "roce://127.0.0.1:70000     | INVALID       | 70000",
        "roce://127.0.0.1?mtu=1000  | INVALID       | 1000",
        "roce://127.0.0.1?mtu=x     | INVALID       | mtu: x",
        "roce://127.0.0.1?udp-port=65536 | INVALID  | 65536",
        "roce://127.0.0.1?max-half-open=0 | INVALID | max-half-open: 0",
        "roce://127.0.0.1?max-half-open-per-peer=65537 | INVALID | 1..65536",
        "roce://127.0.0.1?speed=1   | INVALID       | speed",
        "roce://127.0.0.1?key-file=/proc/nowhere | INVALID | key-file: /proc/nowhere",
        "roce://127.0.0.1?mtu=256&mtu=256 | INVALID | twice",
        "roce://127.0.0.1?sanitize=maybe | INVALID  | maybe",
        "roce://[::1]?udp-port=99   | NOT_SUPPORTED | 4791",
        "roce://[fe80::1]:1         | NOT_SUPPORTED | [fe80:0:0:0:0:0:0:1]",
        "roce://[2001:db8::1]?source=127.0.0.1 | NO_DEVICE | 2001:db8:0:0:0:0:0:1",
        "roce://127.1.2.255         | NO_DEVICE     | 127.1.2.255: Java has no sockets",
        "roce://127.0.0.1?source=127.1.2.255 | NO_DEVICE | not 127.x.y.255",
        "roce://127.0.0.1?source=::1 | NO_DEVICE    | 127.0.0.1",
        "roce://127.0.0.1?device=roce_nowhere | NO_DEVICE | roce_nowhere",
        "roce://127.0.0.1?source=192.0.2.1 | NO_DEVICE | 192.0.2.1",
      })
  void refusesWhatItDoesNotKnowAndNamesIt(String address, VerbsError error, String named) {
    URI uri = URI.create(address);

    assertThatThrownBy(() -> new RoceProvider().open(uri))
        .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.error()).isEqualTo(error))
        .hasMessageContaining(named);
  }

  @Test
  void devicesOfOneHcaHaveTheSameLimits() {
    String address = "roce://" + Loopbacks.address(24);
    RoceProvider provider = new RoceProvider();
    try (Device limited = provider.open(URI.create(address + "?max-half-open=5"));
        Device other = provider.open(URI.create(address + "?max-half-open-per-peer=256"))) {
      assertThat(other.port().gids()).isEqualTo(limited.port().gids());
      assertThatThrownBy(() -> provider.open(URI.create(address + "?max-half-open=6")))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("max-half-open: 6 (expected: 5");
    }
  }

  @Test
  void looksUpHostNamesAndNoAddresses() {
    RoceProvider provider = new RoceProvider();

    assertThat(provider.lookup(URI.create("roce://127.0.0.1:5"))).isNull();
    assertThat(provider.lookup(URI.create("roce://[::1]:5"))).isNull();
    assertThat(provider.lookup(URI.create("roce://localhost:5?mtu=1024")).get())
        .isEqualTo(URI.create("roce://127.0.0.1:5?mtu=1024"));
  }

  @Test
  void opensWithTheMtuThatIsAskedFor() {
    try (Device device = open("?mtu=1024")) {
      assertThat(device.port().activeMtu()).isEqualTo(Mtu.MTU_1024);
      assertThatThrownBy(() -> open("?mtu=2048"))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("1024");
    }
    try (Device device = open("")) {
      assertThat(device.port().activeMtu()).as("the loopback's").isEqualTo(Mtu.MTU_4096);
    }
  }

  @Test
  void sharesTheHcaOfAnAddress() {
    try (Device one = open("");
        Device two = open("")) {
      assertThat(two.port().gids()).isEqualTo(one.port().gids());
    }
  }

  @Test
  void listensOnAFreePortAndSaysWhich() {
    try (Device device = open("");
        ConnectionManager manager = device.createConnectionManager();
        ConnectionListener listener = manager.listen(URI.create("roce://" + HOST), 1)) {
      assertThat(listener.address().getHost()).isEqualTo(HOST);
      assertThat(listener.address().getPort()).isPositive();
    }
  }

  @Test
  void listensOnlyWhereItsHcaIs() {
    try (Device device = open("");
        ConnectionManager manager = device.createConnectionManager()) {
      assertThatThrownBy(
              () -> manager.listen(URI.create("roce://" + Loopbacks.address(4) + ":1"), 1))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining(HOST);
      assertThatThrownBy(() -> manager.listen(URI.create("roce://" + HOST + "?udp-port=99"), 1))
          .isInstanceOfSatisfying(
              VerbsException.class,
              e -> assertThat(e.error()).isEqualTo(VerbsError.ADDRESS_IN_USE));
    }
  }

  @Test
  void namesItsDevices() {
    assertThat(new RoceProvider().deviceNames()).contains("roce_lo");
  }

  private static Device open(String query) {
    URI address = URI.create("roce://" + HOST + query);
    return VerbsProviders.find(address).open(address);
  }
}
