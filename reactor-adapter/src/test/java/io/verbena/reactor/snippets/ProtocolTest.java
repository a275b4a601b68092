// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.snippets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.emulated.sanitizer.junit.SanitizerExtension;
import java.net.URI;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;

// snippet: sanitizer
@ExtendWith(SanitizerExtension.class)
class ProtocolTest {
  private static final URI HCA = URI.create("emulated://my-protocol?sanitize=true");

  private final RdmaTransport transport = RdmaTransport.create();

  @AfterEach
  void dispose() {
    transport.dispose();
  }

  @Test
  void isAnswered() {
    RdmaServer server = transport.bind(HCA, c -> c.send(c.receive())).block();
    RdmaConnection client = transport.connect(server.address()).block();
    ByteBuf hello = client.memory().allocator().buffer().writeBytes("hello".getBytes(UTF_8));
    ByteBuf answer = client.send(Mono.just(hello)).then(client.receive().next()).block();
    assertEquals("hello", answer.toString(UTF_8));
    answer.release();
  }
}
// end
