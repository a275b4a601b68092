// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.snippets;

import static org.assertj.core.api.Assertions.assertThat;

import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.util.DefaultPayload;
import io.verbena.rsocket.BoundRdmaServer;
import io.verbena.rsocket.RdmaClientTransport;
import io.verbena.rsocket.RdmaServerTransport;
import java.net.URI;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Shows RSocket's transports. */
class RSocketTest {

  @Test
  void aRequestIsAnswered() {
    SocketAcceptor acceptor =
        SocketAcceptor.forRequestResponse(
            request -> Mono.just(DefaultPayload.create(request.getDataUtf8())));

    // snippet: rsocket
    URI address = URI.create("emulated://rsocket");
    BoundRdmaServer server =
        RSocketServer.create(acceptor)
            .bind(RdmaServerTransport.create(address)) // was: TcpServerTransport.create(7000)
            .block();
    RSocket client =
        RSocketConnector.create()
            .connect(RdmaClientTransport.create(address)) // was: TcpClientTransport.create(7000)
            .block();
    String answer =
        client.requestResponse(DefaultPayload.create("hello")).map(Payload::getDataUtf8).block();
    // end

    assertThat(answer).isEqualTo("hello");
    client.dispose();
    client.onClose().onErrorComplete().block();
    server.dispose();
  }
}
