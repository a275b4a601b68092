// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectBadPost;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.LOC_LEN_ERR;
import static io.verbena.verbs.CompletionStatus.LOC_PROT_ERR;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static io.verbena.verbs.VerbsError.NO_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Posting: the states and the number of requests that queues accept. */
abstract class PostingTests extends VerbsTests {
  PostingTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void takesNothingInReset() {
    Endpoint end = tck.setup().endpoint();

    expectBadPost(INVALID, 1, () -> end.post(Requests.nothing(1)));
    expectBadPost(INVALID, 2, () -> end.post(Requests.receive(2)));
  }

  @Test
  void takesReceivesButNoSendsInInit() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.INIT);

    expectBadPost(INVALID, 1, () -> end.post(Requests.nothing(1)));
    end.post(Requests.receive(2));
  }

  @Test
  void takesReceivesButNoSendsInReadyToReceive() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.RTR);

    expectBadPost(INVALID, 1, () -> end.post(Requests.nothing(1)));
    end.post(Requests.receive(2));
  }

  @Test
  void takesSendsAndReceivesInReadyToSend() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.RTS);

    end.post(Requests.nothing(1).signaled());
    end.post(Requests.receive(2));

    end.sent().expectSuccess(1, RDMA_WRITE);
  }

  @Test
  void takesSendsAndReceivesInErrorAndFlushesThem() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.ERR);

    end.post(Requests.nothing(1).signaled());
    end.post(Requests.receive(2));

    end.sent().expectError(1, WR_FLUSH_ERR);
    end.received().expectError(2, WR_FLUSH_ERR);
  }

  @Test
  void refusesASendBeyondTheCapacity() {
    Endpoint client = tck.setup().sends(4).connected().client();
    int capacity = client.queuePair().capabilities().maxSend();
    for (int id = 1; id <= capacity; id++) {
      client.post(Requests.nothing(id).signaled());
    }

    expectBadPost(NO_MEMORY, 99, () -> client.post(Requests.nothing(99)));

    for (int id = 1; id <= capacity; id++) {
      client.sent().expectSuccess(id, RDMA_WRITE);
    }
    client.sent().expectNothing();
  }

  @Test
  void holdsASendSlotUntilItsCompletionWasPolled() {
    Endpoint client = tck.setup().sends(4).connected().client();
    int capacity = client.queuePair().capabilities().maxSend();
    for (int id = 1; id <= capacity; id++) {
      client.post(Requests.nothing(id).signaled());
    }

    client.sent().expectSuccess(1, RDMA_WRITE);
    client.post(Requests.nothing(capacity + 1).signaled());

    expectBadPost(NO_MEMORY, 99, () -> client.post(Requests.nothing(99)));
    for (int id = 2; id <= capacity + 1; id++) {
      client.sent().expectSuccess(id, RDMA_WRITE);
    }
  }

  @Test
  void holdsTheSlotsOfUnsignaledSendsUntilALaterOneCompletes() {
    Endpoint client = tck.setup().sends(4).connected().client();
    int capacity = client.queuePair().capabilities().maxSend();

    for (int round = 0; round < 3; round++) {
      for (int id = 1; id < capacity; id++) {
        client.post(Requests.nothing(id));
      }
      client.post(Requests.nothing(capacity).signaled());
      expectBadPost(NO_MEMORY, 99, () -> client.post(Requests.nothing(99)));

      client.sent().expectSuccess(capacity, RDMA_WRITE);
    }

    client.sent().expectNothing();
  }

  @Test
  void holdsTheSlotsOfUnsignaledSendsForEverIfNoneIsSignaled() {
    EndpointPair pair = tck.setup().sends(4).connected();
    Endpoint client = pair.client();
    int capacity = client.queuePair().capabilities().maxSend();
    TestMemory from = client.memory(8).fill(1);
    TestMemory into = pair.server().memory(8, LOCAL_WRITE);
    pair.server().post(Requests.receive(1, into));
    for (int id = 1; id < capacity; id++) {
      client.post(Requests.nothing(id));
    }
    client.post(Requests.send(capacity, from));

    pair.server().received().expectSuccess(1, RECV);

    expectBadPost(NO_MEMORY, 99, () -> client.post(Requests.nothing(99)));
    client.sent().expectNothing();
  }

  @Test
  void refusesAReceiveBeyondTheCapacity() {
    Endpoint end = tck.setup().receives(4).endpointIn(QueuePairState.INIT);
    int capacity = end.queuePair().capabilities().maxReceive();
    for (int id = 1; id <= capacity; id++) {
      end.post(Requests.receive(id));
    }

    expectBadPost(NO_MEMORY, 99, () -> end.post(Requests.receive(99)));
  }

  @Test
  void holdsAReceiveSlotUntilItsCompletionWasPolled() {
    EndpointPair pair = tck.setup().receives(4).connected();
    Endpoint server = pair.server();
    int capacity = server.queuePair().capabilities().maxReceive();
    for (int id = 1; id <= capacity; id++) {
      server.post(Requests.receive(id));
    }
    pair.client().post(Requests.send(1).signaled());
    pair.client().sent().expectSuccess(1, SEND);

    expectBadPost(NO_MEMORY, 99, () -> server.post(Requests.receive(99)));
    server.received().expectSuccess(1, RECV);

    server.post(Requests.receive(capacity + 1));
  }

  @Test
  void refusesMoreSendBuffersThanTheQueuePairTakes() {
    Endpoint client = tck.connected().client();
    int most = client.queuePair().capabilities().maxSendScatterGather();
    SendWorkRequest wide = new SendWorkRequest(most + 1).id(5).send();
    for (int i = 0; i <= most; i++) {
      wide.buffers().add(0, 0, 0);
    }

    expectBadPost(INVALID, 5, () -> client.post(wide));
  }

  @Test
  void refusesMoreReceiveBuffersThanTheQueuePairTakes() {
    Endpoint client = tck.connected().client();
    ReceiveWorkRequest wide = tooWide(5, client);

    expectBadPost(INVALID, 5, () -> client.post(wide));
  }

  @Test
  void refusesInlineDataBeyondTheCapacity() {
    if (isRefused(Capability.INLINE_DATA)) {
      return;
    }
    Endpoint client = tck.setup().inlineData(16).connected().client();
    int most = client.queuePair().capabilities().maxInlineData();

    expectBadPost(
        INVALID,
        5,
        () ->
            client.post(new SendWorkRequest().id(5).send().inline(ByteBuffer.allocate(most + 1))));
  }

  @Test
  void refusesAReadWithInlineData() {
    EndpointPair pair =
        tck.setup().inlineData(tck.supports(Capability.INLINE_DATA) ? 16 : 0).connected();
    TestMemory remote = pair.server().open(8);

    expectBadPost(
        tck.supports(Capability.INLINE_DATA) ? INVALID : NOT_SUPPORTED,
        5,
        () ->
            pair.client()
                .post(
                    new SendWorkRequest()
                        .id(5)
                        .read(remote.address(), remote.rkey())
                        .inline(ByteBuffer.allocate(8))));
  }

  @Test
  void refusesAMessageBeyondTheDevicesMaximum() {
    int most = tck.attributes().maxMessageSize();
    EndpointPair pair = tck.setup().scatterGather(2, 1).connected();
    TestMemory memory = pair.client().open(8);
    SendWorkRequest huge = new SendWorkRequest(2).id(5).send().signaled();
    huge.buffers().add(memory.address(), most, memory.lkey());
    huge.buffers().add(memory.address(), Integer.MAX_VALUE, memory.lkey());
    pair.server().post(Requests.receive(1));

    PostException refused = null;
    try {
      pair.client().post(huge);
    } catch (PostException e) {
      refused = e;
    }

    assertRefused(pair, refused);
    pair.server().received().expectNothing();
  }

  @Test
  void postsTheRequestsThatAreLinkedInOrder() {
    Endpoint client = tck.connected().client();

    client.post(
        Requests.linked(
            Requests.nothing(1).signaled(),
            Requests.nothing(2).signaled(),
            Requests.nothing(3).signaled()));

    client.sent().expectSuccess(1, RDMA_WRITE);
    client.sent().expectSuccess(2, RDMA_WRITE);
    client.sent().expectSuccess(3, RDMA_WRITE);
  }

  @Test
  void postsTheReceivesThatAreLinkedInOrder() {
    EndpointPair pair = tck.connected();

    pair.server()
        .post(Requests.linked(Requests.receive(1), Requests.receive(2), Requests.receive(3)));
    for (int id = 1; id <= 3; id++) {
      pair.client().post(Requests.send(id));
    }

    pair.server().received().expectSuccess(1, RECV);
    pair.server().received().expectSuccess(2, RECV);
    pair.server().received().expectSuccess(3, RECV);
  }

  @Test
  void postsWhatIsLinkedBeforeABadRequestAndNothingAfter() {
    Endpoint client = tck.connected().client();
    int most = client.queuePair().capabilities().maxSendScatterGather();
    SendWorkRequest bad = new SendWorkRequest(most + 1).id(3).send().signaled();
    for (int i = 0; i <= most; i++) {
      bad.buffers().add(0, 0, 0);
    }
    SendWorkRequest first =
        Requests.linked(
            Requests.nothing(1).signaled(),
            Requests.nothing(2).signaled(),
            bad,
            Requests.nothing(4).signaled());

    expectBadPost(INVALID, 3, () -> client.post(first));

    client.post(Requests.nothing(5).signaled());
    client.sent().expectSuccess(1, RDMA_WRITE);
    client.sent().expectSuccess(2, RDMA_WRITE);
    client.sent().expectSuccess(5, RDMA_WRITE);
  }

  @Test
  void postsWhatIsLinkedUntilTheQueueIsFull() {
    Endpoint client = tck.setup().sends(4).connected().client();
    int capacity = client.queuePair().capabilities().maxSend();
    SendWorkRequest[] requests = new SendWorkRequest[capacity + 2];
    for (int i = 0; i < requests.length; i++) {
      requests[i] = Requests.nothing(i + 1).signaled();
    }

    expectBadPost(NO_MEMORY, capacity + 1, () -> client.post(Requests.linked(requests)));

    for (int id = 1; id <= capacity; id++) {
      client.sent().expectSuccess(id, RDMA_WRITE);
    }
    client.sent().expectNothing();
  }

  @Test
  void postsReceivesThatAreLinkedBeforeABadOneAndNothingAfter() {
    EndpointPair pair = tck.connected();
    ReceiveWorkRequest bad = tooWide(2, pair.server());
    ReceiveWorkRequest first = Requests.linked(Requests.receive(1), bad, Requests.receive(3));

    expectBadPost(INVALID, 2, () -> pair.server().post(first));

    pair.server().post(Requests.receive(4));
    pair.client().post(Requests.send(1));
    pair.client().post(Requests.send(2));
    pair.server().received().expectSuccess(1, RECV);
    pair.server().received().expectSuccess(4, RECV);
  }

  @Test
  void flushesReceivesThatAreLinkedBeforeABadOneInError() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.ERR);
    ReceiveWorkRequest first = Requests.linked(Requests.receive(1), tooWide(2, end));

    expectBadPost(INVALID, 2, () -> end.post(first));

    end.received().expectError(1, WR_FLUSH_ERR);
    end.received().expectNothing();
  }

  /** Returns a receive with more buffers than the queue pair takes. */
  private static ReceiveWorkRequest tooWide(long id, Endpoint end) {
    int most = end.queuePair().capabilities().maxReceiveScatterGather();
    ReceiveWorkRequest wide = new ReceiveWorkRequest(most + 1).id(id);
    for (int i = 0; i <= most; i++) {
      wide.buffers().add(0, 0, 0);
    }
    return wide;
  }

  @Test
  void copiesWhatARequestSays() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(16).fill(1);
    TestMemory into = pair.server().memory(16, LOCAL_WRITE);
    TestMemory elsewhere = pair.server().memory(16, LOCAL_WRITE);
    ReceiveWorkRequest receive = Requests.receive(1, into);
    pair.server().post(receive);
    receive.id(9).buffer(elsewhere.address(), elsewhere.length(), elsewhere.lkey());

    SendWorkRequest send = Requests.send(2, from).signaled();
    pair.client().post(send);
    send.id(8).write(0, 0).buffer(0, 1, 0);

    pair.client().sent().expectSuccess(2, SEND);
    pair.server().received().expectSuccess(1, RECV);
    into.assertHolds(1);
    elsewhere.assertUntouched();
  }

  /** Asserts that a length is refused: by the post, or by the completion as on real HCAs. */
  private void assertRefused(EndpointPair pair, @Nullable PostException refused) {
    if (refused == null) {
      CompletionStatus status = pair.client().sent().next().status();
      tck.observed("client's send: " + status);
      assertThat(status).isIn(tck.expectedStatus(LOC_LEN_ERR), LOC_PROT_ERR);
    } else {
      assertThat(refused.error()).isEqualTo(INVALID);
      assertThat(refused.workRequestId()).isEqualTo(5);
    }
  }
}
