// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.verbena.netty.wire.Handshake;
import io.verbena.verbs.ConnectionEvent;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a peer that breaks the protocol loses its own connection, and no other. */
class HostilePeerTest {
  private static final Handshake GOOD = new Handshake(1, false, 4096, 32);

  /** A message that breaks the protocol. */
  @SuppressWarnings("ImmutableEnumChecker") // the lambdas capture nothing
  enum Lie {
    NO_SIGNAL(RawClient::sendWithoutSignal),
    UNKNOWN_BITS(peer -> peer.send(10, 1 << 31)),
    MORE_CREDITS_THAN_RECEIVES_CAN_BE(peer -> peer.send(0, ControlWord.MOST_CREDITS)),
    GIVES_BACK_NOTHING(peer -> peer.send(0, ControlWord.back(0))),
    GIVES_BACK_MORE_THAN_IT_HAS(peer -> peer.send(0, ControlWord.back(40))),
    LONGER_THAN_A_RECEIVE(peer -> peer.send(4097, 0)),
    BYTES_BEHIND_THE_END(
        peer -> {
          peer.send(1, ControlWord.end(0));
          peer.send(1, 0);
        });

    private final Consumer<RawClient> telling;

    Lie(Consumer<RawClient> telling) {
      this.telling = telling;
    }
  }

  /** Private data that is not a handshake. */
  @SuppressWarnings("ImmutableEnumChecker") // no code changes the bytes
  enum Nonsense {
    NOTHING(new byte[0]),
    SHORT(new byte[15]),
    ZEROS(new byte[16]),
    ANOTHER_VERSION(changed(4, 1)),
    NO_PIECE(changed(8, 0xff)),
    SHORT_PIECE(changed(10, 0)),
    NO_RECEIVES(changed(15, StreamSendQueue.RESERVED));

    private final byte[] data;

    Nonsense(byte[] data) {
      this.data = data;
    }

    private static byte[] changed(int at, int value) {
      byte[] bytes = GOOD.encode().array();
      bytes[at] = (byte) value;
      return bytes;
    }
  }

  @ParameterizedTest
  @EnumSource
  void aLieEndsTheConnectionOfWhoToldIt(Lie lie) throws Exception {
    Collector received = new Collector();
    Collector bystander = new Collector();
    try (Ends ends = new Ends()) {
      Collector[] handlers = {bystander, received};
      int[] next = {0};
      Channel server = Ends.bind(ends.server(() -> handlers[next[0]++]));
      SocketChannel good = Ends.connect(ends.client(new Collector()), server);
      good.writeAndFlush(Unpooled.copiedBuffer(new byte[5])).syncUninterruptibly();
      await().atMost(Ends.LIMIT).until(() -> bystander.bytes() == 5);
      try (RawClient peer = new RawClient()) {
        assertThat(
                peer.connect((InetSocketAddress) server.localAddress(), peer.handshake(4096, 32))
                    .type())
            .isEqualTo(ConnectionEvent.Type.ESTABLISHED);
        // On iWARP a bad message may end the connection before the server knows that it is
        // established.
        assertThat(received.active.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();

        lie.telling.accept(peer);

        assertThat(peer.isDisconnected()).isTrue();
        assertThat(received.inactive.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
      }
      good.writeAndFlush(Unpooled.copiedBuffer(new byte[7])).syncUninterruptibly();
      await().atMost(Ends.LIMIT).until(() -> bystander.bytes() == 12);
      if (lie != Lie.BYTES_BEHIND_THE_END) {
        assertThat(received.events).singleElement().isInstanceOf(IOException.class);
      }
    }
  }

  /** The half-closed channel stays open after the peer's end, and has nothing to write. */
  @Test
  void bytesBehindTheEndEndAConnectionThatIsHalfClosed() throws Exception {
    Collector received = new Collector();
    try (Ends ends = new Ends();
        RawClient peer = new RawClient()) {
      Channel server =
          Ends.bind(ends.server(received).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
      assertThat(
              peer.connect((InetSocketAddress) server.localAddress(), peer.handshake(4096, 32))
                  .type())
          .isEqualTo(ConnectionEvent.Type.ESTABLISHED);

      Lie.BYTES_BEHIND_THE_END.telling.accept(peer);

      assertThat(peer.isDisconnected()).isTrue();
      assertThat(received.inactive.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
      assertThat(received.events).hasAtLeastOneElementOfType(IOException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void rejectsAPeerWithoutAHandshake(Nonsense nonsense) throws Exception {
    try (Ends ends = new Ends();
        RawClient peer = new RawClient()) {
      Channel server = Ends.bind(ends.server(new Collector()));

      ConnectionEvent answer =
          peer.connect((InetSocketAddress) server.localAddress(), ByteBuffer.wrap(nonsense.data));

      assertThat(answer.type()).isEqualTo(ConnectionEvent.Type.REJECTED);
      SocketChannel good = Ends.connect(ends.client(new Collector()), server);
      assertThat(good.isActive()).isTrue();
    }
  }

  @Test
  void aPeerThatFallsSilentHoldsNothingUpAtTheEnd() throws Exception {
    Collector received = new Collector();
    try (RawClient peer = new RawClient()) {
      try (Ends ends = new Ends(Ends.options().closeTimeout(Duration.ofSeconds(1)))) {
        Channel server = Ends.bind(ends.server(received));
        peer.connect((InetSocketAddress) server.localAddress(), peer.handshake(4096, 32));
        peer.send(3, 0);
        await().atMost(Ends.LIMIT).until(() -> received.bytes() == 3);
        // The peer returns no credits: the messages for its first credits are sent, the rest waits.
        SocketChannel accepted = ends.accepted();
        assertThat(
                accepted
                    .writeAndFlush(Unpooled.copiedBuffer(new byte[1 << 20]))
                    .awaitUninterruptibly(100))
            .isFalse();
      }
      assertThat(peer.isDisconnected()).isTrue();
    }
  }
}
