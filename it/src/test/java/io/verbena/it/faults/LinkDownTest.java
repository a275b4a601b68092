// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Fill;
import io.verbena.it.node.Link;
import io.verbena.it.node.Nodes;
import io.verbena.it.node.Side;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests pending work while the link is down. */
@Tag("once")
@InSoftRoceGuest(nodes = 2)
class LinkDownTest extends FaultTests {
  private static final int LENGTH = 4096;
  private static final int PENDING = 6;

  /**
   * Uses one retry, as the kernel's connection manager sets 2 to 4 s between retries, and rxe takes
   * 7 retries as unlimited ({@code COMPST_ERROR_RETRY} in its {@code rxe_comp.c}), unlike the
   * specification.
   */
  @Test
  void workEndsWithRetriesExceededAndTheRestIsFlushed() throws Exception {
    var once = new ConnectionParameters(ByteBuffer.allocate(0), 4, 4, 1, 7);
    try (var link = Link.open(LENGTH, once)) {
      Side client = link.client();
      Program.run("link-down", "2");
      client.receive(link.clientPair(), 100, 0, LENGTH);
      postAllKinds(link);
      WorkCompletion first = client.completion();
      assertThat(first.status()).isEqualTo(CompletionStatus.RETRY_EXC_ERR);
      assertThat(first.workRequestId()).isZero();
      assertFlushed(client, 1, PENDING);
      assertThat(link.clientPair().state()).isEqualTo(QueuePairState.ERR);
    }
  }

  private static void postAllKinds(Link link) {
    Side client = link.client();
    long there = link.server().region().address();
    int key = link.server().region().rkey();
    for (int id = 0; id < PENDING; id++) {
      var request = new SendWorkRequest().id(id);
      switch (id % 3) {
        case 0 -> request.write(there, key);
        case 1 -> request.read(there, key);
        default -> request.send();
      }
      client.post(link.clientPair(), request, 0, LENGTH);
    }
  }

  /**
   * Asserts that the requests from one id to another are flushed in order, and the receive with id
   * 100 at any place.
   */
  private static void assertFlushed(Side side, int from, int to) throws InterruptedException {
    int next = from;
    boolean received = false;
    while (next < to || !received) {
      WorkCompletion completion = side.completion();
      assertThat(completion.status()).as("%s", completion).isEqualTo(CompletionStatus.WR_FLUSH_ERR);
      if (completion.workRequestId() == 100) {
        assertThat(received).isFalse();
        received = true;
      } else {
        assertThat(completion.workRequestId()).isEqualTo(next);
        next++;
      }
    }
  }

  @Test
  void workOutlastsABreakWithinTheRetryBudget() throws Exception {
    try (var link = Link.open(LENGTH, ConnectionParameters.defaults())) {
      Side client = link.client();
      Fill.write(client.memory(), 0, 1, LENGTH);
      Program.run("link-down", "2");
      long there = link.server().region().address();
      int key = link.server().region().rkey();
      client.post(link.clientPair(), new SendWorkRequest().write(there, key), 0, LENGTH);
      Program.run("link-up", "2");
      client.success();
      Fill.check(link.server().memory(), 0, 1, LENGTH);
    }
  }

  @Test
  void aPeerThatCannotBeToldOfTheEndIsLeftWithinTheDeadline() throws Exception {
    try (var link = Link.open(LENGTH, ConnectionParameters.defaults())) {
      Program.run("link-down", "2");
      link.client().receive(link.clientPair(), 100, 0, LENGTH);
      link.active().disconnect();
      assertFlushed(link.client(), 0, 0);
      ConnectionEvent event = link.client().expect(ConnectionEvent.Type.DISCONNECTED);
      assertThat(event.status()).isEqualTo(ConnectionEvent.TIMED_OUT);
    }
  }

  @Test
  void connectingEndsAtItsDeadline() throws Exception {
    try (Side server = Side.open(Nodes.server(), LENGTH);
        ConnectionListener listener = server.listen()) {
      URI to = Nodes.fromNode1(listener.address());
      try (Side client = Side.open(to.toString(), LENGTH)) {
        ConnectionIdentifier identifier = client.resolve(to);
        Program.run("link-down", "2");
        identifier.connect(ConnectionParameters.defaults(), Duration.ofSeconds(2).toNanos());
        ConnectionEvent event = client.expect(ConnectionEvent.Type.UNREACHABLE);
        assertThat(event.status()).isEqualTo(ConnectionEvent.TIMED_OUT);
        Side.close(identifier);
      }
    }
  }
}
