// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.verbena.ProtocolViolationException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RemoteAccessException;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.RawPeer;
import io.verbena.reactor.wire.FrameLayout;
import io.verbena.reactor.wire.RecordLayout;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/** Tests that a peer that breaks the protocol loses its connection, with an error that says why. */
class BadPeerTest {
  private static final int FRAMES = 64;
  private static final int WINDOW = 256;

  private static ByteBuffer frame(int records, int length) {
    return frame(records, length, FRAMES, WINDOW, WINDOW);
  }

  private static ByteBuffer frame(int records, int length, int frames, int messages, int notices) {
    return ByteBuffer.allocate(FrameLayout.HEADER_LENGTH + length)
        .putLong(0, FrameLayout.first(records, frames))
        .putLong(8, FrameLayout.second(messages, notices));
  }

  private static ByteBuffer record(int kind, int length, int bytes) {
    return frame(1, bytes).putLong(16, RecordLayout.header(kind, 0) | (length & 0xffff_ffffL));
  }

  static Stream<Arguments> nonsense() {
    return Stream.of(
        Arguments.of("no bytes", ByteBuffer.allocate(0), "frame length: 0"),
        Arguments.of("half a header", ByteBuffer.allocate(15), "frame length: 15"),
        Arguments.of("another type", ByteBuffer.allocate(16), "frame type: 0"),
        Arguments.of("a record that is not there", frame(1, 0), "bytes of a record: 0"),
        Arguments.of("bytes behind the last", frame(0, 8), "bytes behind the last record: 8"),
        Arguments.of("an unknown record", record(9, 0, 8), "record kind: 9"),
        Arguments.of("a negative length", record(1, -1, 8), "message length: -1"),
        Arguments.of("a length beyond the frame", record(1, 9, 16), "message length: 9"),
        Arguments.of("half a rendezvous", record(2, 100, 16), "bytes of a record: 16"),
        Arguments.of("a negative rendezvous", record(2, -5, 24), "message length: -5"),
        Arguments.of("an empty rendezvous", record(2, 0, 24), "message length: 0"),
        Arguments.of(
            "a rendezvous beyond the limit", record(2, (1 << 30) + 1, 24), "message length"),
        Arguments.of("a done of nothing", record(3, 0, 16), "done: 0"),
        Arguments.of("a negative immediate", record(5, -1, 16), "immediate length: -1"),
        Arguments.of(
            "credits taken back", frame(0, 0, FRAMES - 1, WINDOW, WINDOW), "grant of frames"),
        Arguments.of(
            "credits beyond all bounds",
            frame(0, 0, FRAMES, WINDOW + 1, WINDOW),
            "grant of messages"),
        Arguments.of(
            "credits for immediates taken back",
            frame(0, 0, FRAMES, WINDOW, -WINDOW),
            "grant of immediates"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("nonsense")
  void closesTheConnectionOn(String what, ByteBuffer bytes, String message) throws Exception {
    try (Ends ends = Ends.create();
        RawPeer peer = RawPeer.listening()) {
      RdmaConnection connection = connect(ends, peer);
      CompletableFuture<Void> received =
          connection.receive().doOnNext(ByteBuf::release).then().toFuture();

      peer.send(bytes);

      assertThat(received).failsWithin(Ends.LIMIT);
      assertThat(connection.onClose().toFuture())
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(ProtocolViolationException.class)
          .withMessageContaining(message);
      peer.awaitDisconnected();
    }
  }

  private static RdmaConnection connect(Ends ends, RawPeer peer) throws Exception {
    CompletableFuture<RdmaConnection> connect =
        ends.clientSide().connect(peer.address()).toFuture();
    peer.accept(RawPeer.handshake().encode());
    return connect.get();
  }

  @Test
  void closesTheConnectionOnMoreMessagesThanWereGranted() throws Exception {
    try (Ends ends = Ends.create(Ends.options().window(2));
        RawPeer peer = RawPeer.listening()) {
      RdmaConnection connection = connect(ends, peer);
      ByteBuffer three = frame(3, 24);
      for (int i = 0; i < 3; i++) {
        three.putLong(16 + i * 8, RecordLayout.header(RecordLayout.MESSAGE, 0));
      }

      peer.send(three);

      assertThat(connection.onClose().toFuture())
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(ProtocolViolationException.class)
          .withMessageContaining("messages on their way: 3");
    }
  }

  @Test
  void deliversNothingOfTheFramesBehindAViolation() throws Exception {
    try (Ends ends = Ends.create();
        RawPeer peer = RawPeer.listening()) {
      RdmaConnection connection = connect(ends, peer);
      // Each frame has a message and then a bad record. Both frames arrive before the first is
      // read.
      ByteBuffer bytes = frame(2, 16).putLong(24, RecordLayout.header(9, 0));
      bytes.putLong(16, RecordLayout.header(RecordLayout.MESSAGE, 0));
      CountDownLatch bothSent = new CountDownLatch(1);
      AtomicInteger delivered = new AtomicInteger();
      CompletableFuture<Void> received =
          connection
              .receive()
              .doOnNext(
                  message -> {
                    message.release();
                    delivered.incrementAndGet();
                    awaitUninterruptibly(bothSent);
                  })
              .then()
              .toFuture();

      // This completes once the loop has seen the subscriber.
      connection.send(Mono.empty()).block(Ends.LIMIT);
      peer.send(bytes.duplicate());
      peer.send(bytes.duplicate());
      bothSent.countDown();

      assertThat(received).failsWithin(Ends.LIMIT);
      assertThat(delivered).hasValue(1);
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void closesTheConnectionOnARendezvousThatCannotBeRead() throws Exception {
    try (Ends ends = Ends.create();
        RawPeer peer = RawPeer.listening()) {
      RdmaConnection connection = connect(ends, peer);
      CompletableFuture<Void> received =
          connection.receive().doOnNext(ByteBuf::release).then().toFuture();

      peer.send(record(RecordLayout.RENDEZVOUS, 100_000, 24).putInt(28, 12345));

      assertThat(received).failsWithin(Ends.LIMIT);
      assertThat(connection.onClose().toFuture())
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(RemoteAccessException.class);
    }
  }

  @Test
  void endsWellWhateverBytesCome() throws Exception {
    Random random = new Random(42);
    try (Ends ends = Ends.create()) {
      for (int round = 0; round < Addresses.rounds(200); round++) {
        try (RawPeer peer = RawPeer.listening()) {
          RdmaConnection connection = connect(ends, peer);
          CompletableFuture<Void> received =
              connection.receive().doOnNext(ByteBuf::release).then().toFuture();
          int records = random.nextInt(4);
          ByteBuffer bytes = frame(records, random.nextInt(200));
          for (int at = 16; at < bytes.limit(); at++) {
            bytes.put(at, (byte) (random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(6)));
          }

          peer.send(bytes);
          peer.disconnect();

          assertThat(received)
              .failsWithin(Ends.LIMIT)
              .withThrowableThat()
              .withCauseInstanceOf(RdmaException.class);
          assertThat(connection.onClose().toFuture()).failsWithin(Ends.LIMIT);
        }
      }
    }
  }
}
