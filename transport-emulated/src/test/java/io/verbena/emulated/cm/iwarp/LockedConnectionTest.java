// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.Caller;
import io.verbena.emulated.ForeignPeer;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.cm.LockedConnections;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionParameters;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locked connections over {@code iwarp://}. */
class LockedConnectionTest extends LockedConnections {
  private static final String FORGED =
      "11020028000400040000000111111111111111111111111111111111"
          + "22222222222222222222222222222222";

  /** Length of a request of a locked connection without private data of the program. */
  private static final int REQUEST_BYTES = 24 + 36;

  @Override
  protected URI at(int number) {
    return URI.create("iwarp://" + Loopbacks.address(number) + ":0");
  }

  @Override
  protected int mostToAccept() {
    return ConnectionParameters.MAX_ACCEPT_DATA;
  }

  @Override
  protected int mostToReject() {
    return ConnectionParameters.MAX_REJECT_DATA;
  }

  /**
   * Replies of peers without the key: without any lock, with the copied flags of the request, as
   * siw sends them, and with a forged proof.
   */
  @ParameterizedTest
  @ValueSource(strings = {"1002000400040004", "1102000400040004", FORGED, "3102000400000000"})
  void aPeerWithoutTheKeyIsRefused(String reply) throws Exception {
    try (Caller active = new Caller(at(40));
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName(Loopbacks.ADDRESS))) {
      URI to = URI.create("iwarp://" + Loopbacks.ADDRESS + ":" + server.getLocalPort());
      ConnectionIdentifier from = active.resolve(with(to, key()));
      from.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
      try (Socket peer = server.accept()) {
        peer.setSoTimeout(ForeignPeer.TIMEOUT);
        String request = ForeignPeer.read(peer, REQUEST_BYTES);
        assertThat(request).startsWith(ForeignPeer.hex("MPA ID Req Frame"));

        ForeignPeer.write(peer, ForeignPeer.REPLY + reply);

        ConnectionEvent event = active.expect(ConnectionEvent.Type.REJECTED);
        assertThat(event.status()).isEqualTo(ConnectionEvent.REJECT_KEY);
        assertThat(event.privateData().remaining()).isZero();
        assertThat(ForeignPeer.isClosed(peer)).isTrue();
      }
    }
  }
}
