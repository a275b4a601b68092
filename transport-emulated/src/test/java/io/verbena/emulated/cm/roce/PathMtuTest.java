// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.Caller;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.cm.protocol.CmMessage.Answered;
import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmReason;
import io.verbena.emulated.cm.protocol.Mad;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.net.URI;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the MTU of connections between ends with different MTUs. */
@Tag("once")
class PathMtuTest {
  private static final int LENGTH = 10_000;
  private static final long STEP_NANOS = 1_000_000;

  @Test
  void aClientThatCanSendLargerPacketsTakesThoseOfTheServer() throws Exception {
    try (Caller passive = new Caller(at(40, "?mtu=1024"));
        Caller active = new Caller(at(41, ""));
        ConnectionListener listener = passive.manager.listen(at(40, ""), 1)) {
      assertConnects(active, passive, listener.address(), Mtu.MTU_1024);
    }
  }

  @Test
  void aClientThatCanSendSmallerPacketsOnlyAsksForThose() throws Exception {
    try (Caller passive = new Caller(at(42, ""));
        Caller active = new Caller(at(43, "?mtu=512"));
        ConnectionListener listener = passive.manager.listen(at(42, ""), 1)) {
      assertConnects(active, passive, listener.address(), Mtu.MTU_512);
    }
  }

  @Test
  void aClientAsksForTheSmallerPacketsThatTheAddressOfItsPeerSays() throws Exception {
    try (Caller passive = new Caller(at(44, ""));
        Caller active = new Caller(at(45, ""));
        ConnectionListener listener = passive.manager.listen(at(44, ""), 1)) {
      assertThat(listener.address().getQuery()).isNull();
      assertConnects(active, passive, at(44, "?mtu=2048"), Mtu.MTU_2048);
    }
  }

  @Test
  void anAddressOfAPeerThatSaysLargerPacketsThanTheOwnPortHasIsNoObstacle() throws Exception {
    try (Caller passive = new Caller(at(46, "?mtu=4096"));
        Caller own = new Caller(at(47, "?mtu=1024"));
        ConnectionListener listener = passive.manager.listen(at(46, "?mtu=4096"), 1)) {
      assertThat(listener.address().getQuery()).isEqualTo("mtu=4096");
      URI toPeer = URI.create(listener.address() + "&source=" + Loopbacks.address(47));
      try (Caller active = new Caller(toPeer)) {
        assertThat(active.device.port().gids()).isEqualTo(own.device.port().gids());
        assertConnects(active, passive, toPeer, Mtu.MTU_1024);
      }
    }
  }

  @Test
  void aClientTriesTheNextSmallerPacketsIfARejectDoesNotSayWhichAreGood() throws Exception {
    try (Caller passive = new Caller(at(48, ""));
        Caller active = new Caller(at(49, ""));
        ConnectionListener listener = passive.manager.listen(at(48, ""), 2)) {
      ConnectionIdentifier from = connect(active, listener.address());
      ConnectionIdentifier first =
          passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      ByteBuffer none = Mad.padded(ByteBuffer.allocate(0), Mad.REJECT_DATA);

      ((RoceConnection) from)
          .rejected(new Reject(0, 0, 0, Answered.REQUEST, CmReason.INVALID_MTU, 0, none));
      assertThat(active.manager.await(0)).as("nothing for the program").isNull();

      ConnectionIdentifier to = passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      assertMoves(active, from, passive, to, Mtu.MTU_2048);
      first.close();
    }
  }

  private static URI at(int number, String query) {
    return URI.create("roce://" + Loopbacks.address(number) + ":7000" + query);
  }

  private static ConnectionIdentifier connect(Caller active, URI to) throws Exception {
    ConnectionIdentifier from = active.manager.resolve(to, Caller.LIMIT.toNanos());
    active.expect(ConnectionEvent.Type.ADDR_RESOLVED);
    assertThat(active.queuePair(from).number()).isPositive();
    from.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
    return from;
  }

  private static void assertConnects(Caller active, Caller passive, URI to, Mtu expected)
      throws Exception {
    ConnectionIdentifier from = connect(active, to);
    long end = System.nanoTime() + Caller.LIMIT.toNanos();
    ConnectionEvent asked = null;
    while (asked == null && System.nanoTime() < end) {
      // Awaiting events repeats the request; the program gets no event for it.
      assertThat(active.manager.await(0)).isNull();
      asked = passive.manager.await(STEP_NANOS);
    }
    assertThat(asked).isNotNull();
    assertThat(asked.type()).isEqualTo(ConnectionEvent.Type.CONNECT_REQUEST);
    assertMoves(active, from, passive, asked.identifier(), expected);
  }

  private static void assertMoves(
      Caller active,
      ConnectionIdentifier from,
      Caller passive,
      ConnectionIdentifier to,
      Mtu expected)
      throws Exception {
    QueuePair receiving = passive.queuePair(to);
    receiving.postReceive(
        new ReceiveWorkRequest(1)
            .id(1)
            .buffer(passive.region.address(), LENGTH, passive.region.lkey()));
    to.accept(ConnectionParameters.defaults());
    active.expect(ConnectionEvent.Type.ESTABLISHED);
    QueuePair sending = from.queuePair();
    assertThat(sending).isNotNull();
    assertThat(sending.query().pathMtu()).isEqualTo(expected);
    assertThat(receiving.query().pathMtu()).isEqualTo(expected);
    for (int i = 0; i < LENGTH; i++) {
      active.bytes.put(i, (byte) (i * 7));
    }
    sending.postSend(
        new SendWorkRequest(1)
            .id(2)
            .send()
            .buffer(active.region.address(), LENGTH, active.region.lkey())
            .signaled());
    assertThat(active.next().status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(passive.next().status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(passive.bytes.slice(0, LENGTH)).isEqualTo(active.bytes.slice(0, LENGTH));
  }
}
