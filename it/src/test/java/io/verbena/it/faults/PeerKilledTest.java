// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import io.verbena.it.node.Side;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests what a program sees when its peer is killed, and that it can release everything. */
@Tag("once")
@InSoftRoceGuest(nodes = 2)
class PeerKilledTest extends FaultTests {
  private static final Pattern LISTENING = Pattern.compile("listening (\\S+)\n");
  private static final int SLOTS = Peer.SLOTS;
  private static final int SLOT = Peer.SLOT;

  @Test
  void allThatIsPendingAtItEndsInOrder() throws Exception {
    try (var peer = Program.start(Program.java(Peer.class, "serve"))) {
      URI to = awaitAddress(peer);
      try (Side side = Side.open(to.toString(), SLOTS * SLOT)) {
        ConnectionIdentifier identifier = side.connect(to, ConnectionParameters.defaults());
        ByteBuffer token = side.expect(ConnectionEvent.Type.ESTABLISHED).privateData();
        QueuePair pair = Side.pairOf(identifier);
        side.receive(pair, -1, 0, SLOT);
        long there = token.getLong();
        int key = token.getInt();
        int posted = 0;
        for (; posted < SLOTS; posted++) {
          post(side, pair, posted, there, key);
        }
        int ended = 0;
        for (; ended < 2 * SLOTS; ended++, posted++) {
          assertThat(side.success().workRequestId()).isEqualTo(ended);
          post(side, pair, posted, there, key);
        }
        peer.kill();
        side.expect(ConnectionEvent.Type.DISCONNECTED);
        assertEnd(side, ended, posted);
        Side.close(identifier);
      }
    }
  }

  private static void post(Side side, QueuePair pair, int id, long there, int key) {
    int offset = id % SLOTS * SLOT;
    var request = new SendWorkRequest().id(id);
    switch (id % 3) {
      case 0 -> request.write(there + offset, key);
      case 1 -> request.read(there + offset, key);
      default -> request.send();
    }
    side.post(pair, request, offset, SLOT);
  }

  /**
   * Asserts that the requests succeed up to one error, and are then flushed; each id comes once,
   * and the receive has id -1.
   */
  private static void assertEnd(Side side, int from, int to) throws InterruptedException {
    int next = from;
    boolean failed = false;
    boolean received = false;
    while (next < to || !received) {
      WorkCompletion completion = side.completion();
      if (completion.workRequestId() == -1) {
        assertThat(received).isFalse();
        assertThat(completion.status()).isEqualTo(CompletionStatus.WR_FLUSH_ERR);
        received = true;
        continue;
      }
      assertThat(completion.workRequestId()).isEqualTo(next++);
      if (failed) {
        assertThat(completion.status()).isEqualTo(CompletionStatus.WR_FLUSH_ERR);
      } else {
        assertThat(completion.status())
            .isIn(
                CompletionStatus.SUCCESS,
                CompletionStatus.RETRY_EXC_ERR,
                CompletionStatus.WR_FLUSH_ERR);
        failed = !completion.isSuccess();
      }
    }
  }

  @Test
  void receivesOfItsMessagesAreFlushed() throws Exception {
    try (Side side = Side.open(Nodes.server(), SLOTS * SLOT);
        ConnectionListener listener = side.listen();
        var peer =
            Program.start(
                Program.java(Peer.class, "send", Nodes.fromNode1(listener.address()).toString()))) {
      ConnectionIdentifier identifier = side.request();
      QueuePair pair = Side.pairOf(identifier);
      int posted = 0;
      for (; posted < SLOTS; posted++) {
        side.receive(pair, posted, posted % SLOTS * SLOT, SLOT);
      }
      identifier.accept(ConnectionParameters.defaults());
      side.expect(ConnectionEvent.Type.ESTABLISHED);
      int ended = 0;
      for (; ended < 2 * SLOTS; ended++, posted++) {
        assertThat(side.success().workRequestId()).isEqualTo(ended);
        side.receive(pair, posted, posted % SLOTS * SLOT, SLOT);
      }
      peer.kill();
      side.expect(ConnectionEvent.Type.DISCONNECTED);
      boolean flushed = false;
      for (; ended < posted; ended++) {
        WorkCompletion completion = side.completion();
        assertThat(completion.workRequestId()).isEqualTo(ended);
        flushed |= !completion.isSuccess();
        assertThat(completion.status())
            .isEqualTo(flushed ? CompletionStatus.WR_FLUSH_ERR : CompletionStatus.SUCCESS);
      }
      Side.close(identifier);
    }
  }

  @Test
  void beforeItAcceptsIsARefusal() throws Exception {
    try (var peer = Program.start(Program.java(Peer.class, "hold"))) {
      URI to = awaitAddress(peer);
      try (Side side = Side.open(to.toString(), SLOT)) {
        ConnectionIdentifier identifier = side.connect(to, ConnectionParameters.defaults());
        peer.awaitOutput("holding");
        peer.kill();
        assertThat(side.awaitEvent().type())
            .isIn(ConnectionEvent.Type.REJECTED, ConnectionEvent.Type.UNREACHABLE);
        Side.close(identifier);
      }
    }
  }

  @Test
  void whileItIsToldOfTheEndIsTheEnd() throws Exception {
    try (var peer = Program.start(Program.java(Peer.class, "serve"))) {
      URI to = awaitAddress(peer);
      try (Side side = Side.open(to.toString(), SLOT)) {
        ConnectionIdentifier identifier = side.connect(to, ConnectionParameters.defaults());
        side.expect(ConnectionEvent.Type.ESTABLISHED);
        QueuePair pair = Side.pairOf(identifier);
        side.receive(pair, 1, 0, SLOT);
        // The stopped process receives the disconnect, and cannot answer.
        Program.run("kill", "-STOP", Long.toString(peer.pid()));
        identifier.disconnect();
        assertThat(side.completion().status()).isEqualTo(CompletionStatus.WR_FLUSH_ERR);
        peer.kill();
        side.expect(ConnectionEvent.Type.DISCONNECTED);
        Side.close(identifier);
      }
    }
  }

  @Test
  void thatNeverAnswersToTheEndIsLeftWithinTheDeadline() throws Exception {
    try (var peer = Program.start(Program.java(Peer.class, "serve"))) {
      URI to = awaitAddress(peer);
      try (Side side = Side.open(to.toString(), SLOT)) {
        ConnectionIdentifier identifier = side.connect(to, ConnectionParameters.defaults());
        side.expect(ConnectionEvent.Type.ESTABLISHED);
        Program.run("kill", "-STOP", Long.toString(peer.pid()));
        identifier.disconnect();
        ConnectionEvent event = side.expect(ConnectionEvent.Type.DISCONNECTED);
        assertThat(event.status()).isEqualTo(ConnectionEvent.TIMED_OUT);
        Side.close(identifier);
      }
    }
  }

  /** Returns the address of the peer on node 2, as reached from node 1. */
  static URI awaitAddress(Program peer) throws IOException {
    peer.awaitOutput("listening");
    Matcher address = LISTENING.matcher(peer.output());
    assertThat(address.find()).as(peer.output()).isTrue();
    return Nodes.fromNode1(URI.create(address.group(1)));
  }
}
