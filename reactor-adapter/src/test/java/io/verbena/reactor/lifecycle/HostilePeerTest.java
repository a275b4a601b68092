// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.RawPeer;
import io.verbena.reactor.wire.FrameLayout;
import io.verbena.reactor.wire.RecordLayout;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/**
 * Tests that a malicious peer loses only its own connection: it reaches no memory beyond what it
 * was granted, and other connections keep working.
 */
class HostilePeerTest {
  private static final int LENGTH = 4096;

  private final Ends ends = Ends.create();
  private final ByteBuffer memory = ByteBuffer.allocateDirect(LENGTH).put(Ends.bytes(LENGTH, 7));
  private final Ends.Pair honest = ends.connect();
  private RdmaMemory.Region region;
  private RemoteMemory token;
  private int echoes;

  @BeforeEach
  void showMemoryToTheHonest() {
    region =
        ends.server()
            .memory()
            .register(
                memory.clear(), EnumSet.of(RemoteMemory.Right.READ, RemoteMemory.Right.WRITE));
    token = region.token();
  }

  @AfterEach
  void nobodyElseNoticed() {
    byte[] now = new byte[LENGTH];
    memory.get(0, now);
    assertThat(now).as("memory that nobody wrote to").isEqualTo(Ends.bytes(LENGTH, 7));
    honestConnectionWorks();
    region.close();
    ends.close();
  }

  private void honestConnectionWorks() {
    byte[] sent = Ends.bytes(100, ++echoes);
    Mono<ByteBuf> arrives = honest.server().receive().next();
    byte[] received =
        arrives
            .doOnSubscribe(
                s ->
                    honest
                        .client()
                        .send(Mono.just(Ends.message(honest.client(), 100, echoes)))
                        .subscribe())
            .map(Ends::take)
            .block(Ends.LIMIT);
    assertThat(received).isEqualTo(sent);
  }

  @Test
  void framesThatAreNoneEndOneConnectionOnly() throws Exception {
    Random random = new Random(11);
    for (int round = 0; round < Addresses.rounds(50); round++) {
      try (RawPeer peer = established()) {
        ByteBuffer frame = ByteBuffer.wrap(Ends.bytes(16 + random.nextInt(200), round));
        if (random.nextBoolean()) {
          frame.putLong(0, FrameLayout.first(1 + random.nextInt(9), 64));
          frame.putLong(8, FrameLayout.second(256, 256));
        }

        peer.send(frame);

        peer.awaitDisconnected();
      }
      honestConnectionWorks();
    }
  }

  @Test
  void aMessageBehindACloseIsNotDelivered() throws Exception {
    try (RawPeer peer = established()) {
      ByteBuffer frame = ByteBuffer.allocate(FrameLayout.HEADER_LENGTH + 8 + 16);
      frame.putLong(0, FrameLayout.first(2, 64)).putLong(8, FrameLayout.second(256, 256));
      frame.putLong(16, RecordLayout.header(RecordLayout.CLOSE, 0));
      frame.putLong(24, RecordLayout.header(RecordLayout.MESSAGE, 8));

      peer.send(frame);

      peer.awaitDisconnected();
    }
    await().atMost(Ends.LIMIT).until(() -> ends.server().connectionCount() == 1);
  }

  @Test
  void guessedKeysWriteNothing() throws Exception {
    int key = token.key();
    for (int guess : List.of(key + 1, key - 1, key ^ 0x80, key + 256, ~key, 0)) {
      try (RawPeer peer = established()) {
        assertThat(peer.write(token.address(), guess)).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
      }
      honestConnectionWorks();
    }
  }

  @Test
  void aTokenIsGoodForItsRangeOnly() throws Exception {
    for (long offset : new long[] {-1, -4096, LENGTH - 7, LENGTH, 1L << 40, Long.MIN_VALUE}) {
      try (RawPeer peer = established()) {
        assertThat(peer.write(token.address() + offset, token.key()))
            .isEqualTo(CompletionStatus.REM_ACCESS_ERR);
      }
    }
  }

  @Test
  void aFloodOfBadHandshakesLeavesRoomForGoodOnes() throws Exception {
    for (int round = 0; round < Addresses.rounds(100); round++) {
      try (RawPeer peer = RawPeer.to(ends.address())) {
        ConnectionEvent answer = peer.connect(ByteBuffer.wrap(Ends.bytes(round % 57, round)));

        assertThat(answer.type()).isEqualTo(ConnectionEvent.Type.REJECTED);
      }
    }
    assertThat(ends.server().connectionCount()).isEqualTo(1);
    anotherHonestClientConnects();
  }

  @Test
  void connectsThatNobodyFinishesAreForgotten() throws Exception {
    for (int round = 0; round < Addresses.rounds(100); round++) {
      RawPeer.to(ends.address()).connectAndVanish(RawPeer.handshake().encode());
    }
    await().atMost(Ends.LIMIT).until(() -> ends.server().connectionCount() == 1);
    anotherHonestClientConnects();
  }

  @Test
  void connectionsThatSayNothingTakeNothingFromOthers() throws Exception {
    RawPeer[] silent = new RawPeer[Addresses.rounds(20)];
    try {
      for (int i = 0; i < silent.length; i++) {
        silent[i] = established();
      }
      anotherHonestClientConnects();
      honestConnectionWorks();
    } finally {
      for (RawPeer peer : silent) {
        if (peer != null) {
          peer.close();
        }
      }
    }
  }

  private void anotherHonestClientConnects() {
    RdmaConnection other = ends.clientSide().connect(ends.address()).block(Ends.LIMIT);
    assertThat(other).isNotNull();
    other.close().block(Ends.LIMIT);
  }

  private RawPeer established() throws InterruptedException {
    RawPeer peer = RawPeer.to(ends.address());
    ConnectionEvent answer = peer.connect(RawPeer.handshake().encode());
    if (answer.type() != ConnectionEvent.Type.ESTABLISHED) {
      peer.close();
      throw new AssertionError("not connected: " + answer.type());
    }
    return peer;
  }
}
