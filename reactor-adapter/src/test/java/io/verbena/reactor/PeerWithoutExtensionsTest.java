// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.HcaException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaConnection.Immediate;
import io.verbena.RdmaMemory;
import io.verbena.RdmaTransport;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.reactor.testing.Ends;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Tests an iWARP device with atomics and immediate data against a peer that has neither. */
@Tag("once")
class PeerWithoutExtensionsTest {
  private static final URI ANY = URI.create("iwarp://127.0.0.1:0?extensions=false");

  @Test
  void isToldOfAWriteByAMessageAndAskedForNoAtomic() throws Exception {
    ByteBuffer memory = ByteBuffer.allocateDirect(64).order(ByteOrder.nativeOrder());
    RdmaTransport servers = RdmaTransport.create(Ends.options().build());
    RdmaTransport clients = RdmaTransport.create(Ends.options().build());
    try {
      CompletableFuture<RdmaConnection> accepted = new CompletableFuture<>();
      URI address =
          servers
              .bind(
                  ANY,
                  connection -> {
                    accepted.complete(connection);
                    return Mono.never();
                  })
              .block(Ends.LIMIT)
              .address();
      RdmaConnection client = clients.connect(address).block(Ends.LIMIT);
      RdmaConnection server = accepted.get(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
      try (RdmaMemory.Region region =
          server.memory().register(memory, Set.of(Right.WRITE, Right.ATOMIC))) {
        RemoteMemory token = region.token();
        CompletableFuture<Immediate> notice = server.immediates().next().toFuture();

        client.writeWithImmediate(Ends.message(client, 8, 3), token, 77).block(Ends.LIMIT);

        assertThat(notice.get(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS))
            .isEqualTo(new Immediate(77, 8));
        byte[] written = new byte[8];
        memory.get(0, written);
        assertThat(written).isEqualTo(Ends.bytes(8, 3));
        assertThatThrownBy(() -> client.fetchAndAdd(token.slice(8, 8), 1).block(Ends.LIMIT))
            .isInstanceOf(HcaException.class)
            .hasMessageEndingWith("the peer has no atomics");
        assertThat(memory.getLong(8)).isZero();
        assertThat(client.isDisposed()).isFalse();
      }
    } finally {
      clients.dispose();
      servers.dispose();
    }
  }
}
