// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.Caller;
import io.verbena.emulated.Loopbacks;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how connections by the protocol of {@code rdma_cm} begin. */
@Tag("once")
class RoceConnectionTest {
  private static final URI ADDRESS = URI.create("roce://" + Loopbacks.address(6) + ":7000");
  private static final int ROOM = 64;

  /** With librdmacm this queue pair is already in RTS, and the program gets the same event. */
  @Test
  void aPassiveEndThatItsPeersFirstMessageBreaksWasConnected() throws Exception {
    try (Caller passive = new Caller(ADDRESS);
        Caller active = new Caller(ADDRESS);
        ConnectionListener listener = passive.manager.listen(ADDRESS, 1)) {
      assertThat(listener.address()).isEqualTo(ADDRESS);
      ConnectionIdentifier from = active.manager.resolve(ADDRESS, Caller.LIMIT.toNanos());
      active.expect(ConnectionEvent.Type.ADDR_RESOLVED);
      QueuePair sending = active.queuePair(from);
      from.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
      ConnectionIdentifier to = passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      QueuePair receiving = passive.queuePair(to);
      receiving.postReceive(
          new ReceiveWorkRequest(1)
              .id(1)
              .buffer(passive.region.address(), ROOM, passive.region.lkey()));
      to.accept(ConnectionParameters.defaults());
      active.expect(ConnectionEvent.Type.ESTABLISHED);

      sending.postSend(
          new SendWorkRequest(1)
              .id(2)
              .send()
              .buffer(active.region.address(), ROOM + 1, active.region.lkey())
              .signaled());
      // Nobody takes the passive end's events meanwhile.
      await().atMost(Caller.LIMIT).until(() -> receiving.state() == QueuePairState.ERR);

      passive.expect(ConnectionEvent.Type.ESTABLISHED);
      assertThat(passive.next().status()).isEqualTo(CompletionStatus.LOC_LEN_ERR);
      assertThat(active.next().status()).isEqualTo(CompletionStatus.REM_INV_REQ_ERR);
      to.disconnect();
      passive.expect(ConnectionEvent.Type.DISCONNECTED);
      active.expect(ConnectionEvent.Type.DISCONNECTED);
    }
  }

  @Test
  void aPassiveEndThatIsClosedBeforeItsProgramHasHeardThatItIsEstablishedTellsThePeer()
      throws Exception {
    URI address = URI.create("roce://" + Loopbacks.address(23) + ":7000");
    try (Caller passive = new Caller(address);
        Caller active = new Caller(address);
        ConnectionListener listener = passive.manager.listen(address, 1)) {
      ConnectionIdentifier from =
          active.manager.resolve(listener.address(), Caller.LIMIT.toNanos());
      active.expect(ConnectionEvent.Type.ADDR_RESOLVED);
      QueuePair sending = active.queuePair(from);
      from.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
      ConnectionIdentifier to = passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      QueuePair receiving = passive.queuePair(to);
      receiving.postReceive(
          new ReceiveWorkRequest(1)
              .id(1)
              .buffer(passive.region.address(), ROOM, passive.region.lkey()));
      to.accept(ConnectionParameters.defaults());
      active.expect(ConnectionEvent.Type.ESTABLISHED);
      sending.postSend(
          new SendWorkRequest(1)
              .id(2)
              .send()
              .buffer(active.region.address(), ROOM, active.region.lkey())
              .signaled());
      // Receiving the acknowledged message shows the passive HCA that the peer is ready.
      assertThat(active.next().status()).isEqualTo(CompletionStatus.SUCCESS);

      to.close();

      active.expect(ConnectionEvent.Type.DISCONNECTED);
      // Wait until both ends have left time-wait.
      await().atMost(Caller.LIMIT).until(() -> known(active) == 0);
    }
  }

  private static int known(Caller caller) {
    RoceConnectionManager manager = (RoceConnectionManager) caller.manager;
    manager.fabric().enter();
    try {
      return manager.agent().known();
    } finally {
      manager.fabric().leave();
    }
  }

  /**
   * Each network device has its own rxe, so a process on several networks opens one HCA on each.
   */
  @Test
  void eachAddressOfAMachineIsAnHcaAndAProcessMayServeSeveralOnTheSamePort() throws Exception {
    URI here = URI.create("roce://" + Loopbacks.address(20) + ":7000");
    URI there = URI.create("roce://" + Loopbacks.address(21) + ":7000");
    URI client = URI.create("roce://" + Loopbacks.address(22));
    try (Caller first = new Caller(here);
        Caller second = new Caller(there);
        Caller active = new Caller(client);
        ConnectionListener onFirst = first.manager.listen(here, 1);
        ConnectionListener onSecond = second.manager.listen(there, 1)) {
      assertThat(first.device.port().gids())
          .doesNotContainAnyElementsOf(second.device.port().gids());
      for (Caller passive : List.of(second, first)) {
        ConnectionListener listener = passive == first ? onFirst : onSecond;
        ConnectionIdentifier from =
            active.manager.resolve(listener.address(), Caller.LIMIT.toNanos());
        active.expect(ConnectionEvent.Type.ADDR_RESOLVED);
        assertThat(active.queuePair(from).number()).isPositive();
        from.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
        ConnectionEvent asked = passive.expect(ConnectionEvent.Type.CONNECT_REQUEST);
        assertThat(asked.listener()).isSameAs(listener);
        assertThat(asked.identifier().peer()).startsWith("roce://" + client.getHost() + ":");
        assertThat(passive.queuePair(asked.identifier()).number()).isPositive();
        asked.identifier().accept(ConnectionParameters.defaults());
        active.expect(ConnectionEvent.Type.ESTABLISHED);
        passive.expect(ConnectionEvent.Type.ESTABLISHED);
      }
    }
  }
}
