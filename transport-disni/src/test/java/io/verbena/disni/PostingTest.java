// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how many driver calls a list of requests needs, and what these calls contain. */
@Tag(FakeRdmaCore.TAG)
final class PostingTest {
  private static final URI DEVICE = FakeRdmaCore.uri("10.0.1.1:0");
  private static final int REQUESTS = 64;

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  private static SendWorkRequest nothings(int count) {
    SendWorkRequest first = null;
    for (int id = count; id > 0; id--) {
      first = new SendWorkRequest().id(id).write(0, 0).signaled().next(first);
    }
    return first;
  }

  private static ReceiveWorkRequest receives(int count) {
    ReceiveWorkRequest first = null;
    for (int id = count; id > 0; id--) {
      first = new ReceiveWorkRequest().id(id).next(first);
    }
    return first;
  }

  @Test
  void postsLinkedRequestsAtOnce() throws Exception {
    try (FakeConnection link = new FakeConnection(DEVICE, "", false, REQUESTS, 0)) {
      DisniQueuePair client = (DisniQueuePair) link.client;
      DisniQueuePair server = (DisniQueuePair) link.server;

      client.postSend(nothings(Chain.SIZE));
      server.postReceive(receives(Chain.SIZE));

      assertThat(FakePosting.sends(client)).isEqualTo(Chain.SIZE);
      assertThat(FakePosting.sendPosts(client)).isEqualTo(1);
      assertThat(FakePosting.receives(server)).isEqualTo(Chain.SIZE);
      assertThat(FakePosting.receivePosts(server)).isEqualTo(1);
      for (int id = 1; id <= Chain.SIZE; id++) {
        assertThat(link.complete().workRequestId()).isEqualTo(id);
      }
    }
  }

  @Test
  void postsMoreThanFitsIntoOneCallInAsFewAsPossible() throws Exception {
    try (FakeConnection link = new FakeConnection(DEVICE, "", false, REQUESTS, 0)) {
      DisniQueuePair client = (DisniQueuePair) link.client;

      client.postSend(nothings(2 * Chain.SIZE + 1));

      assertThat(FakePosting.sends(client)).isEqualTo(2 * Chain.SIZE + 1);
      assertThat(FakePosting.sendPosts(client)).isEqualTo(3);
    }
  }

  @Test
  void postsLinkedReceivesOfASharedQueueAtOnce() throws Exception {
    try (FakeConnection link = new FakeConnection(DEVICE, "", false, REQUESTS, 0);
        DisniSharedReceiveQueue shared =
            (DisniSharedReceiveQueue) link.domain.createSharedReceiveQueue(REQUESTS, 1)) {
      shared.postReceive(receives(Chain.SIZE));

      assertThat(FakePosting.receivePosts(shared)).isEqualTo(1);
      assertThat(FakePosting.receives(shared)).isEqualTo(Chain.SIZE);
    }
  }

  @Test
  void givesTheDriverInlineBytesAmongOthers() throws Exception {
    ByteBuffer into = ByteBuffer.allocateDirect(8);
    try (FakeConnection link = new FakeConnection(DEVICE, "", false, REQUESTS, 8);
        MemoryRegion target = link.domain.register(into, Set.of(Access.LOCAL_WRITE))) {
      DisniQueuePair client = (DisniQueuePair) link.client;
      link.server.postReceive(
          new ReceiveWorkRequest().id(7).buffer(target.address(), 8, target.lkey()));

      SendWorkRequest inline =
          new SendWorkRequest().id(2).send().inline(ByteBuffer.allocate(8).putLong(0, 42));
      client.postSend(nothings(1).next(inline));

      assertThat(FakePosting.sendPosts(client)).isEqualTo(1);
      assertThat(FakePosting.inlineSends(client)).isEqualTo(1);
      assertThat(link.complete().workRequestId()).isEqualTo(1);
      assertThat(link.complete().workRequestId()).isEqualTo(7);
      assertThat(into.getLong(0)).isEqualTo(42);
    }
  }
}
