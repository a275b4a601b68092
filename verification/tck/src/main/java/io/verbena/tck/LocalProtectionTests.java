// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.CompletionStatus.LOC_PROT_ERR;
import static io.verbena.verbs.CompletionStatus.REM_OP_ERR;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;

/** Protection of local memory: lkeys, address ranges, domains and the local write right. */
abstract class LocalProtectionTests extends VerbsTests {
  private static final int SIZE = 64;

  LocalProtectionTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void rejectsASendFromAWrongKey() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(SIZE);

    rejects(pair, send(from.address(), SIZE, from.lkey() ^ 0x5555_5555));
  }

  @Test
  void rejectsASendFromMemoryThatIsNotRegistered() {
    rejects(tck.connected(), send(4096, SIZE, 0));
  }

  @Test
  void rejectsASendFromARegionThatIsClosed() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(SIZE);
    SendWorkRequest request = send(from.address(), SIZE, from.lkey());

    from.region().close();

    rejects(pair, request);
  }

  @Test
  void rejectsASendBeyondTheRegion() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(SIZE);

    rejects(pair, send(from.address(), SIZE + 1, from.lkey()));
  }

  @Test
  void rejectsASendBeforeTheRegion() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(SIZE);

    rejects(pair, send(from.address() - 1, SIZE, from.lkey()));
  }

  @Test
  void rejectsASendWhoseLengthOverflowsTheAddress() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(SIZE);

    rejects(pair, send(-1L, SIZE, from.lkey()));
  }

  @Test
  void rejectsASendFromARegionOfAnotherDomain() {
    EndpointPair pair = tck.connected();
    TestMemory from = tck.memory(tck.domain(), SIZE, EnumSet.of(LOCAL_WRITE));

    rejects(pair, send(from.address(), SIZE, from.lkey()));
  }

  @Test
  void rejectsAMessageOfWhichOneBufferIsBad() {
    if (tck.attributes().maxScatterGather() < 2) {
      rejects(tck.connected(), send(0, SIZE, 0));
      return;
    }
    EndpointPair pair = tck.setup().scatterGather(2, 1).connected();
    TestMemory good = pair.client().memory(SIZE).fill(1);
    SendWorkRequest request = new SendWorkRequest(2).id(1).send().signaled();
    request.buffers().add(good.address(), SIZE, good.lkey());
    request.buffers().add(good.address(), SIZE, good.lkey() ^ 0x5555_5555);

    rejects(pair, request);
  }

  @Test
  void rejectsAWriteFromAWrongKey() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(SIZE).fill(1);
    TestMemory remote = pair.server().open(SIZE);

    pair.client()
        .post(
            new SendWorkRequest()
                .id(1)
                .write(remote.address(), remote.rkey())
                .signaled()
                .buffer(from.address(), SIZE, from.lkey() ^ 0x5555_5555));

    pair.client().sent().expectError(1, LOC_PROT_ERR);
    remote.assertUntouched();
  }

  @Test
  void rejectsAReadIntoARegionWithoutLocalWrite() {
    EndpointPair pair = tck.connected();
    TestMemory into = pair.client().memory(SIZE, Access.REMOTE_READ);
    TestMemory remote = pair.server().open(SIZE).fill(1);

    pair.client().post(Requests.read(1, remote, into).signaled());

    pair.client().sent().expectError(1, LOC_PROT_ERR);
    pair.client().awaitState(QueuePairState.ERR);
    into.assertUntouched();
  }

  @Test
  void rejectsAReadBeyondTheLocalRegion() {
    EndpointPair pair = tck.connected();
    TestMemory into = pair.client().sink(SIZE);
    TestMemory remote = pair.server().open(SIZE + 1).fill(1);

    pair.client()
        .post(
            new SendWorkRequest()
                .id(1)
                .read(remote.address(), remote.rkey())
                .signaled()
                .buffer(into.address(), SIZE + 1, into.lkey()));

    pair.client().sent().expectError(1, LOC_PROT_ERR);
  }

  @Test
  void rejectsAnAtomicResultIntoARegionWithoutLocalWrite() {
    if (isRefused(Capability.ATOMICS)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory into = pair.client().memory(8, Access.REMOTE_READ);
    TestMemory remote = pair.server().open(8);

    pair.client().post(Requests.fetchAndAdd(1, remote, 1, into).signaled());

    pair.client().sent().expectError(1, LOC_PROT_ERR);
    into.assertUntouched();
  }

  @Test
  void sendsFromARegionWithoutAnyRight() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(SIZE).fill(1);
    TestMemory into = pair.server().memory(SIZE, LOCAL_WRITE);
    pair.server().post(Requests.receive(1, into));

    pair.client().post(Requests.send(2, from).signaled());

    pair.client().sent().expectSuccess(2, CompletionOpcode.SEND);
    pair.server().received().expectSuccess(1, CompletionOpcode.RECV);
    into.assertHolds(1);
  }

  @Test
  void rejectsAReceiveIntoARegionWithoutLocalWrite() {
    EndpointPair pair = tck.connected();
    TestMemory into = pair.server().memory(SIZE, Access.REMOTE_READ);

    rejectsMessage(pair, Requests.receive(9, into));
    into.assertUntouched();
  }

  @Test
  void rejectsAReceiveWithAWrongKey() {
    EndpointPair pair = tck.connected();
    TestMemory into = pair.server().memory(SIZE, LOCAL_WRITE);

    rejectsMessage(
        pair,
        new ReceiveWorkRequest().id(9).buffer(into.address(), SIZE, into.lkey() ^ 0x5555_5555));
    into.assertUntouched();
  }

  @Test
  void rejectsAReceiveBeyondTheRegion() {
    EndpointPair pair = tck.connected();
    TestMemory into = pair.server().memory(SIZE / 2, LOCAL_WRITE);

    rejectsMessage(pair, new ReceiveWorkRequest().id(9).buffer(into.address(), SIZE, into.lkey()));
  }

  @Test
  void rejectsAReceiveIntoARegionOfAnotherDomain() {
    EndpointPair pair = tck.connected();
    ProtectionDomain other = tck.own(tck.serverDevice().allocateProtectionDomain());
    TestMemory into = tck.memory(other, SIZE, EnumSet.of(LOCAL_WRITE));

    rejectsMessage(pair, Requests.receive(9, into));
    into.assertUntouched();
  }

  @Test
  void rejectsAReceiveIntoARegionThatWasClosedAfterPosting() {
    EndpointPair pair = tck.connected();
    TestMemory into = pair.server().memory(SIZE, LOCAL_WRITE);
    pair.server().post(Requests.receive(9, into));

    into.region().close();

    pair.client().post(Requests.send(1, pair.client().memory(SIZE).fill(1)).signaled());
    pair.server().received().expectError(9, LOC_PROT_ERR);
    pair.client().sent().expectError(1, REM_OP_ERR);
    into.assertUntouched();
  }

  /** Asserts that the requester's HCA rejects a request, without any effect at the peer. */
  private static void rejects(EndpointPair pair, SendWorkRequest request) {
    TestMemory into = pair.server().memory(4 * SIZE, LOCAL_WRITE);
    pair.server().post(Requests.receive(9, into));

    pair.client().post(request);

    pair.client().sent().expectError(request.id(), LOC_PROT_ERR);
    pair.client().awaitState(QueuePairState.ERR);
    pair.server().received().expectNothing();
    // The HCA owns the buffer until the flush.
    pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    assertThat(pair.server().received().next().workRequestId()).isEqualTo(9);
    into.assertUntouched();
  }

  /** Asserts that the responder's HCA rejects a receive when a message arrives for it. */
  private static void rejectsMessage(EndpointPair pair, ReceiveWorkRequest receive) {
    pair.server().post(receive);

    pair.client().post(Requests.send(1, pair.client().memory(SIZE).fill(1)).signaled());

    pair.server().received().expectError(receive.id(), LOC_PROT_ERR);
    pair.client().sent().expectError(1, REM_OP_ERR);
    pair.client().awaitState(QueuePairState.ERR);
    pair.server().awaitState(QueuePairState.ERR);
  }

  private static SendWorkRequest send(long address, int length, int key) {
    return new SendWorkRequest().id(1).send().signaled().buffer(address, length, key);
  }
}
