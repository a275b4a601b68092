// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.snippets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.verbena.AcceptDecision;
import io.verbena.AcceptHook;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.RejectReason;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.UnknownSchemeException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Shows the reactive transport. */
class ReactiveTest {

  @Test
  void anEchoAnswers() {
    // snippet: echo
    RdmaTransport transport = RdmaTransport.create();
    URI address = URI.create("emulated://echo"); // or roce://127.0.0.1:7000
    RdmaServer server = transport.bind(address, c -> c.send(c.receive())).block();

    RdmaConnection client = transport.connect(server.address()).block();
    ByteBuf hello = client.memory().allocator().buffer().writeBytes("hello".getBytes(UTF_8));
    ByteBuf answer = client.send(Mono.just(hello)).then(client.receive().next()).block();
    String text = answer.toString(UTF_8);
    answer.release(); // a received buffer is yours
    client.close().block(); // graceful: what is under way arrives
    transport.dispose();
    // end

    assertThat(text).isEqualTo("hello");
  }

  @Test
  void aPeersMemoryIsReadWrittenAndCountedUp() {
    RdmaTransport transport = RdmaTransport.create();
    URI address = URI.create("emulated://one-sided");
    RdmaServer server = transport.bind(address, c -> c.send(c.receive())).block();
    RdmaConnection client = transport.connect(server.address()).block();
    ByteBuf hello = client.memory().allocator().buffer().writeBytes("hello".getBytes(UTF_8));

    // snippet: one-sided
    ByteBuffer blocks = ByteBuffer.allocateDirect(1 << 20);
    RdmaMemory.Region region =
        server.memory().register(blocks, Set.of(Right.READ, Right.WRITE, Right.ATOMIC));
    RemoteMemory token = region.token(); // travels in a message: encode(ByteBuf), decode(ByteBuf)

    client.write(hello, token.slice(4096, 5)).block();
    ByteBuf bytes = client.read(token.slice(4096, 5)).block();
    long ticket = client.fetchAndAdd(token.slice(0, 8), 1).block();
    region.close(); // the token is dead at once
    // end

    assertThat(bytes.toString(UTF_8)).isEqualTo("hello");
    assertThat(ticket).isZero();
    bytes.release();
    assertThatThrownBy(() -> client.read(token).block()).isInstanceOf(RdmaException.class);
    transport.dispose();
  }

  private static Mono<Boolean> isKnown(ByteBuffer token, @Nullable InetSocketAddress from) {
    return Mono.just(from == null && token.get() == 7);
  }

  @Test
  void aServerTakesWhomItKnows() {
    URI address = URI.create("emulated://admission");
    byte[] token = {7};

    // snippet: admission
    RdmaTransport transport =
        RdmaTransport.create(
            RdmaOptions.builder().maxConnections(10_000).maxConnectionsPerPeer(500).build());
    AcceptHook hook =
        request ->
            isKnown(request.privateData(), request.address()) // a Mono<Boolean>
                .map(
                    known ->
                        known
                            ? AcceptDecision.accept()
                            : AcceptDecision.reject(403, "unknown token"));
    RdmaServer server = transport.bind(address, hook, c -> c.send(c.receive())).block();

    RdmaConnection client = transport.connect(server.address(), ByteBuffer.wrap(token)).block();
    // end

    assertThat(client.isDisposed()).isFalse();
    assertThatThrownBy(
            () -> transport.connect(server.address(), ByteBuffer.wrap(new byte[1])).block())
        .isInstanceOfSatisfying(
            RdmaConnectException.class,
            refused ->
                assertThat(refused.rejection()).isEqualTo(new RejectReason(403, "unknown token")));
    transport.dispose();
  }

  @Test
  void anUnknownSchemeIsAnsweredWithThosePresent() {
    RdmaTransport transport = RdmaTransport.create();

    assertThatThrownBy(() -> transport.connect(URI.create("nosuch://there")).block())
        .isInstanceOf(UnknownSchemeException.class)
        .hasMessageContaining("nosuch")
        .hasMessageContaining("emulated");

    transport.dispose();
  }
}
