// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.meters;

import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import reactor.core.publisher.Mono;

/** A small program that echoes a message. */
public final class Echo implements Callable<String> {
  @Override
  public String call() {
    RdmaTransport transport = RdmaTransport.create(Ends.options().build());
    try {
      RdmaServer server =
          transport
              .bind(Addresses.of("meters-echo"), peer -> peer.send(peer.receive()))
              .block(Ends.LIMIT);
      RdmaConnection client =
          transport.connect(Addresses.reach(server.address())).block(Ends.LIMIT);
      byte[] hello = "hello".getBytes(StandardCharsets.UTF_8);
      Mono<byte[]> answer = client.receive().next().map(Ends::take);
      Mono<Void> sent =
          client.send(
              Mono.fromSupplier(() -> client.memory().allocator().buffer().writeBytes(hello)));
      return new String(
          Mono.zip(answer, sent.thenReturn(1)).block(Ends.LIMIT).getT1(), StandardCharsets.UTF_8);
    } finally {
      transport.dispose();
    }
  }
}
