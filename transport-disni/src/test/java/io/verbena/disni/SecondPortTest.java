// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.AddressVector;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests on which port of an HCA with two ports a device opens, and that all its objects use that
 * port.
 */
@Tag(FakeRdmaCore.TAG)
final class SecondPortTest {
  private static final long NANOS = TimeUnit.SECONDS.toNanos(10);

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  private static DisniDevice open(String address) {
    return FakeRdmaCore.open(FakeRdmaCore.uri(address));
  }

  @Test
  void tellsTheGidsOfThePortThatHasTheAddress() {
    try (DisniDevice device = open("10.0.13.1")) {
      assertThat(device.port().gids()).hasSize(4);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.3.1, 1",
    "10.0.13.1, 2",
    "10.0.13.9, 2", // another host, reached by its route
    "10.0.13.9?source=10.0.13.1, 2",
    "10.0.13.1?device=mlx5_3, 2",
    "10.0.13.9?device=mlx5_3, 2", // nearest to 10.0.13.1
    "0.0.0.0?device=mlx5_3, 1",
    "0.0.0.0?device=mlx5_3&port=2, 2",
    "10.0.3.9?port=2, 2", // regardless of its route
    "10.0.14.1, 2", // an IPoIB address, which is in no GID
    "10.0.14.1?device=mlx5_4, 2",
    "10.0.1.1?port=1, 1"
  })
  void isTheOneOfTheAddressUnlessItIsNamed(String address, int number) {
    try (DisniDevice device = open(address)) {
      assertThat(device.port().number()).isEqualTo(number);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "10.0.3.1?port=3 | port: 3 (expected: 1..2)",
        "10.0.1.1?port=2 | port: 2 (expected: 1..1)",
        "10.0.3.1?port=2 | port: 2 (expected: 1, which has /10.0.3.1)",
        "10.0.13.1?device=mlx5_3&port=1 | port: 1 (expected: 2, which has /10.0.13.1)",
        "10.0.13.9?source=10.0.3.1&port=2 | port: 2 (expected: 1, which has /10.0.3.1)",
        "10.0.13.1?gid=4 | gid: 4 (expected: 0..3)"
      })
  void isRefusedWhereThereIsNoSuchPortOrTheAddressIsAnotherOnes(String address, String why) {
    assertRefused(() -> open(address).close(), why);
  }

  private static void assertRefused(ThrowingCallable call, String why) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.INVALID))
        .hasMessageContaining(why);
  }

  @Test
  void staysTheOneThatTheDeviceWasOpenedOn() {
    try (DisniDevice device = open("0.0.0.0?device=mlx5_3&port=2");
        DisniConnectionManager manager = device.createConnectionManager()) {
      String why = "port: 1 (expected: 2, on which the device is open)";

      assertRefused(() -> manager.listen(PortSpace.TCP, uri("0.0.0.0:0?port=1"), 1), why);
      assertRefused(() -> manager.resolve(PortSpace.TCP, uri("10.0.3.1:1?port=1"), NANOS), why);
      assertRefused(() -> manager.listen(PortSpace.TCP, uri("10.0.3.1:0"), 1), why);
    }
  }

  private static URI uri(String rest) {
    return FakeRdmaCore.uri(rest);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3}) // of RoCE v1, and of v2
  void connectsByItsGids(int gid) throws Exception {
    try (FakeConnection link = new FakeConnection(uri("10.0.13.1:0?gid=" + gid), "", false)) {
      for (QueuePairAttributes pair : List.of(link.client.query(), link.server.query())) {
        AddressVector way = pair.addressVector();
        assertThat(pair.port()).isEqualTo(2);
        assertThat(way).isNotNull();
        assertThat(way.sourceGidIndex()).isEqualTo(gid);
        assertThat(way.destination()).isEqualTo(link.device.port().gids().get(gid));
      }
    }
  }

  @Test
  void connectsFromItsOwnAddressWhereItIsNamed() throws Exception {
    try (DisniDevice device = open("10.0.3.9?port=2");
        DisniConnectionManager manager = device.createConnectionManager();
        DisniConnection active = manager.resolve(PortSpace.TCP, uri("10.0.3.1:1"), NANOS)) {
      expect(manager, ConnectionEvent.Type.ADDR_RESOLVED);

      assertThat(String.valueOf(active.localAddress())).contains("10.0.13.1");
    }
  }

  private static ConnectionEvent expect(DisniConnectionManager manager, ConnectionEvent.Type type)
      throws InterruptedException {
    ConnectionEvent event = manager.await(NANOS);
    assertThat(event).isNotNull();
    assertThat(event.type()).as("%s", event).isEqualTo(type);
    return event;
  }

  @ParameterizedTest
  @CsvSource({
    "port=1, 10.0.3.1, CONNECT_REQUEST",
    "port=2, 10.0.13.1, CONNECT_REQUEST",
    "port=2, 10.0.3.1, REJECTED",
    "vector=0, 10.0.3.1, CONNECT_REQUEST",
    "vector=0, 10.0.13.1, CONNECT_REQUEST"
  })
  void takesRequestsOfAllPortsUnlessItIsNamed(
      String option, String client, ConnectionEvent.Type expected) throws Exception {
    URI any = uri("0.0.0.0:0?device=mlx5_3&" + option);
    try (DisniDevice server = FakeRdmaCore.open(any);
        DisniConnectionManager served = server.createConnectionManager();
        DisniListener listener = served.listen(PortSpace.TCP, any, 1);
        DisniDevice device = open(client);
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        DisniCompletionQueue queue = device.createCompletionQueue(8, null, false);
        DisniConnectionManager manager = device.createConnectionManager();
        DisniConnection active =
            manager.resolve(
                PortSpace.TCP, uri(client + ":" + listener.address().getPort()), NANOS)) {
      expect(manager, ConnectionEvent.Type.ADDR_RESOLVED);
      QueuePair pair =
          active.createQueuePair(domain, QueuePairOptions.reliable(queue, queue, 1, 1));
      active.connect(ConnectionParameters.defaults(), NANOS);

      if (expected == ConnectionEvent.Type.CONNECT_REQUEST) {
        expect(served, expected).identifier().close();
      } else {
        assertThat(served.await(0)).isNull();
        expect(manager, expected);
      }
      pair.close();
    }
  }

  @Test
  void isTheOnlyOneThatQueuePairsTake() {
    try (DisniDevice device = open("10.0.13.1");
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        DisniCompletionQueue queue = device.createCompletionQueue(8, null, false);
        DisniQueuePair pair =
            domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1))) {
      QueuePairAttributes init =
          new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).access(Set.of());

      assertRefused(() -> pair.modify(init.port(1)), "PORT: 1 (expected: 2)");
      pair.modify(init.port(device.port().number()));

      assertThat(pair.query().port()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @CsvSource({"10.0.4.1, 1, 7", "10.0.14.1, 2, 8"})
  void hasALidOfItsOwn(String host, int number, int lid) throws Exception {
    try (FakeConnection link = new FakeConnection(uri(host + ":0"), "", false);
        DisniAddressHandle handle =
            new DisniAddressHandle((DisniProtectionDomain) link.domain, AddressVector.toLid(9))) {
      AddressVector way = link.client.query().addressVector();
      assertThat(link.device.port().lid()).isEqualTo(lid);
      assertThat(link.client.query().port()).isEqualTo(number);
      assertThat(way).isNotNull();
      assertThat(way.lid()).isEqualTo(lid);
      assertThat(FakeRdmaCore.port(handle.pointer())).isEqualTo(number);
    }
  }
}
