// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.RdmaConnection;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.RawPeer;
import io.verbena.reactor.wire.FrameReader;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** Tests how many long messages are announced to peers that READ none of them. */
class UnreadMessagesTest {
  private static final int LENGTH = 64 << 10;

  /** The connections that get 1 MiB each, which a long path needs, of the 4 MiB of a loop. */
  private static final int FIRST = 4;

  private static final int OF_THESE = (1 << 20) / LENGTH;

  /** The later connections, which get the minimum. */
  private static final int LATER = 3;

  private static final int OF_THOSE = (256 << 10) / LENGTH;

  @Test
  void areFewerOnceTheLoopHasMany() throws Exception {
    List<RawPeer> peers = new ArrayList<>();
    try (Ends ends = Ends.create(Ends.options().loops(1))) {
      for (int i = 0; i < FIRST + LATER; i++) {
        RawPeer peer = RawPeer.listening();
        peers.add(peer);
        RdmaConnection connection = connect(ends, peer);
        Flux<ByteBuf> messages =
            Flux.generate(sink -> sink.next(Ends.message(connection, LENGTH, 1)));
        connection.send(messages).subscribe(unused -> {}, e -> {});
        Announced announced = new Announced(peer);
        int expected = i < FIRST ? OF_THESE : OF_THOSE;
        await()
            .atMost(Ends.LIMIT)
            .during(Duration.ofMillis(100))
            .untilAsserted(() -> assertThat(announced.count()).isEqualTo(expected));
      }
    } finally {
      peers.forEach(RawPeer::close);
    }
  }

  private static RdmaConnection connect(Ends ends, RawPeer peer) throws Exception {
    CompletableFuture<RdmaConnection> connect =
        ends.clientSide().connect(peer.address()).toFuture();
    peer.accept(RawPeer.handshake().encode());
    return connect.get(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
  }

  /** Counts the messages that were announced to a peer. */
  private static final class Announced implements FrameReader.Handler {
    private final RawPeer peer;
    private int count;

    Announced(RawPeer peer) {
      this.peer = peer;
    }

    int count() {
      for (ByteBuffer frame = peer.receivedNow(); frame != null; frame = peer.receivedNow()) {
        FrameReader.read(Unpooled.wrappedBuffer(frame), frame.remaining(), LENGTH, this);
      }
      return count;
    }

    @Override
    public void rendezvous(int length, int id, int key, long address) {
      count++;
    }

    @Override
    public void granted(int frames, int messages, int immediates) {}

    @Override
    public void message(ByteBuf frame, int start, int length) {}

    @Override
    public void done(int id) {}

    @Override
    public void closing(boolean stop) {}

    @Override
    public void returned(int count) {}

    @Override
    public void immediate(int value, int length) {}
  }
}
