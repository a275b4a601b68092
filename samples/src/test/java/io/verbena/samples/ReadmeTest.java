package io.verbena.samples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaMemory;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.UnknownSchemeException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** The programs of the README, run. */
class ReadmeTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final RdmaTransport transport = RdmaTransport.create();

  @AfterEach
  void dispose() {
    transport.dispose();
  }

  private static <T> T present(@Nullable T value) {
    return Objects.requireNonNull(value, "value");
  }

  private RdmaServer echo() {
    return present(
        transport.bind(URI.create("emulated://echo"), c -> c.send(c.receive())).block(LIMIT));
  }

  @Test
  void anEchoAnswers() {
    RdmaServer server = echo();
    RdmaConnection client = present(transport.connect(server.address()).block(LIMIT));

    ByteBuf hello = client.memory().allocator().buffer().writeBytes("hello".getBytes(UTF_8));
    client.send(Mono.just(hello)).subscribe();
    ByteBuf answer = present(client.receive().next().block(LIMIT));

    assertThat(answer.toString(UTF_8)).isEqualTo("hello");
    answer.release();
    client.close().block(LIMIT);
  }

  @Test
  void aPeersMemoryIsReadWrittenAndCountedUp() {
    RdmaServer server = echo();
    RdmaConnection client = present(transport.connect(server.address()).block(LIMIT));
    ByteBuf hello = client.memory().allocator().buffer().writeBytes("hello".getBytes(UTF_8));

    ByteBuffer blocks = ByteBuffer.allocateDirect(1 << 20);
    RdmaMemory.Region region =
        server.memory().register(blocks, Set.of(Right.READ, Right.WRITE, Right.ATOMIC));
    RemoteMemory token = region.token();

    client.write(hello, token.slice(4096, 5)).block(LIMIT);
    ByteBuf bytes = present(client.read(token.slice(4096, 5)).block(LIMIT));
    long ticket = present(client.fetchAndAdd(token.slice(0, 8), 1).block(LIMIT));

    assertThat(bytes.toString(UTF_8)).isEqualTo("hello");
    assertThat(ticket).isZero();
    bytes.release();

    region.close();
    assertThatThrownBy(() -> client.read(token).block(LIMIT)).isInstanceOf(RdmaException.class);
  }

  @Test
  void anUnknownSchemeIsAnsweredWithThosePresent() {
    assertThatThrownBy(() -> transport.connect(URI.create("nosuch://there")).block(LIMIT))
        .isInstanceOf(UnknownSchemeException.class)
        .hasMessageContaining("nosuch")
        .hasMessageContaining("emulated");
  }
}
