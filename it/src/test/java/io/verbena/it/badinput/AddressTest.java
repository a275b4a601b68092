// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.badinput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import io.verbena.it.node.Side;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the errors for addresses that do not lead to a peer. */
@InSoftRoceGuest(nodes = 2)
class AddressTest {
  private static final int BYTES = 4096;

  @ParameterizedTest
  @ValueSource(strings = {"disni://127.0.0.1:18515", "disni://192.0.2.1:18515"})
  void thatNoDeviceHasOrReaches(String address) {
    assertThatThrownBy(() -> Side.open(address, BYTES))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.NO_DEVICE))
        .hasMessageContaining(address)
        .hasMessageContaining("rxe0")
        .hasMessageContaining("rxe1");
  }

  @Test
  void toListenOnThatIsNoneOfTheDevice() {
    try (Side side = Side.open(Nodes.server(), BYTES)) {
      String other = "disni://127.0.0.1:0";
      assertThatThrownBy(() -> side.manager().listen(URI.create(other), 1))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.INVALID))
          .hasMessageContaining(other);
    }
  }

  @Test
  void whosePortIsInUse() {
    try (Side side = Side.open(Nodes.server(), BYTES);
        ConnectionListener listener = side.listen()) {
      URI taken = listener.address();
      assertThatThrownBy(() -> side.manager().listen(taken, 1))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.ADDRESS_IN_USE))
          .hasMessageContaining(taken.toString());
    }
  }

  @Test
  void whoseServerTakesTcpButNotRdma() throws Exception {
    try (var tcp = new ServerSocket(0, 4, InetAddress.getByName(Nodes.node2()))) {
      URI to = Nodes.fromNode1(Nodes.node2(), tcp.getLocalPort());
      try (Side side = Side.open(to.toString(), BYTES)) {
        ConnectionIdentifier identifier = side.connect(to, ConnectionParameters.defaults());
        ConnectionEvent event = side.expect(ConnectionEvent.Type.REJECTED);
        assertThat(event.status()).isEqualTo(ConnectionEvent.REJECT_INVALID_SERVICE_ID);
        Side.close(identifier);
      }
    }
  }
}
