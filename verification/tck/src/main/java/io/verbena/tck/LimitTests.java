// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.CompletionStatus.LOC_LEN_ERR;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NO_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.function.Function;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/**
 * The limits in the device attributes: each limit can be reached, and one more is refused with an
 * error that names the value and the limit. Limits that are too large for a test are skipped;
 * {@link LimitsTck} is for devices with low limits.
 */
abstract class LimitTests extends VerbsTests {
  /** The largest number of objects that a test creates. */
  private static final int MANY = 1 << 10;

  /** The largest number of queue entries that a test fills. */
  private static final int DEEP = 1 << 12;

  /** The largest number of bytes that a test transfers. */
  private static final int LONG = 1 << 20;

  LimitTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void holdForQueuePairs() throws Exception {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));
    QueuePairOptions options = QueuePairOptions.reliable(queue, queue, 1, 1);

    holdOnAllDomains(tck.attributes().maxQueuePairs(), domain -> domain.createQueuePair(options));
  }

  @Test
  void holdForMemoryRegions() throws Exception {
    holdOnAllDomains(
        tck.attributes().maxMemoryRegions(),
        domain -> domain.register(TestMemory.allocate(64), Set.of()));
  }

  @Test
  void holdForMemoryWindows() throws Exception {
    need(Capability.MEMORY_WINDOW_TYPE_2B);

    holdOnAllDomains(
        tck.attributes().maxMemoryWindows(),
        domain -> domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B));
  }

  @Test
  void holdForAddressHandles() throws Exception {
    need(Capability.UNRELIABLE_DATAGRAM);
    AddressVector vector = TransitionAttributes.wayTo(tck.device());

    holdOnAllDomains(
        tck.attributes().maxAddressHandles(), domain -> domain.createAddressHandle(vector));
  }

  @Test
  void holdForSharedReceiveQueues() throws Exception {
    need(Capability.SHARED_RECEIVE_QUEUE);

    holdOnAllDomains(
        tck.attributes().maxSharedReceiveQueues(), domain -> domain.createSharedReceiveQueue(1, 1));
  }

  @Test
  void holdForProtectionDomains() throws Exception {
    hold(tck.attributes().maxProtectionDomains(), i -> tck.device().allocateProtectionDomain());
  }

  @Test
  void holdForCompletionQueues() throws Exception {
    hold(tck.attributes().maxCompletionQueues(), i -> tck.device().createCompletionQueue(1, null));
  }

  @Test
  void holdForTheDepthOfACompletionQueue() {
    int most = tck.attributes().maxCompletions();
    meet(most, DEEP);
    Device device = tck.device();

    CompletionQueue queue = tck.own(device.createCompletionQueue(most, null));

    assertThat(queue.depth()).isEqualTo(most);
    refuses(INVALID, most, () -> tck.own(device.createCompletionQueue(most + 1, null)));
    if (tck.supports(Capability.COMPLETION_QUEUE_RESIZE)) {
      refuses(INVALID, most, () -> queue.resize(most + 1));
    }
  }

  @Test
  void holdForTheRequestsInAQueue() {
    int most = tck.attributes().maxWorkRequests();
    meet(most, DEEP);

    Endpoint end = tck.setup().sends(most).receives(most).endpointIn(QueuePairState.INIT);
    for (int id = 0; id < most; id++) {
      end.post(Requests.receive(id));
    }
    end.queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    for (int id = 0; id < most; id++) {
      end.received().expectError(id, CompletionStatus.WR_FLUSH_ERR);
    }
    refuses(INVALID, most, () -> tck.setup().sends(most + 1).endpoint());
    refuses(INVALID, most, () -> tck.setup().receives(most + 1).endpoint());
  }

  @Test
  void holdForTheRequestsInASharedReceiveQueue() {
    need(Capability.SHARED_RECEIVE_QUEUE);
    int most = tck.attributes().maxSharedReceiveRequests();
    meet(most, DEEP);
    ProtectionDomain domain = tck.domain();

    SharedReceiveQueue queue = tck.own(domain.createSharedReceiveQueue(most, 1));
    for (int id = 0; id < most; id++) {
      queue.postReceive(Requests.receive(id));
    }

    refuses(INVALID, most, () -> tck.own(domain.createSharedReceiveQueue(most + 1, 1)));
  }

  @Test
  void holdForTheBuffersOfARequest() {
    int most = tck.attributes().maxScatterGather();
    meet(most, DEEP);
    EndpointPair pair = tck.setup().scatterGather(most, most).connected();
    TestMemory from = pair.client().memory(8 * most, Access.LOCAL_WRITE).fill(1);
    TestMemory into = pair.server().memory(8 * most, Access.LOCAL_WRITE);

    pair.server().post(Requests.receive(1, pieces(into, most)));
    pair.client().post(Requests.send(2, pieces(from, most)).signaled());

    pair.client().sent().expectSuccess(2, CompletionOpcode.SEND);
    pair.server().received().expectSuccess(1, CompletionOpcode.RECV);
    into.assertHolds(1);
    refuses(INVALID, most, () -> tck.setup().scatterGather(most + 1, 1).endpoint());
    refuses(INVALID, most, () -> tck.setup().scatterGather(1, most + 1).endpoint());
  }

  @Test
  void holdForInlineData() {
    need(Capability.INLINE_DATA);
    int most = tck.attributes().maxInlineData();
    meet(most, DEEP);
    EndpointPair pair = tck.setup().inlineData(most).connected();
    TestMemory into = pair.server().memory(most, Access.LOCAL_WRITE);
    ByteBuffer from = ByteBuffer.allocateDirect(most);
    for (int i = 0; i < most; i++) {
      from.put(i, TestMemory.pattern(1, i));
    }

    pair.server().post(Requests.receive(1, into));
    pair.client().post(Requests.send(2).inline(from).signaled());

    pair.client().sent().expectSuccess(2, CompletionOpcode.SEND);
    pair.server().received().expectSuccess(1, CompletionOpcode.RECV);
    into.assertHolds(1);
    refuses(INVALID, most, () -> tck.setup().inlineData(most + 1).endpoint());
  }

  @Test
  void holdForTheSizeOfARegion() {
    long most = tck.attributes().maxMemoryRegionSize();
    meet(most, LONG);
    ProtectionDomain domain = tck.domain();

    assertThat(tck.memory(domain, (int) most, Set.of()).region().length()).isEqualTo(most);

    refuses(NO_MEMORY, most, () -> tck.memory(domain, (int) most + 1, Set.of()));
  }

  @Test
  void holdForTheSizeOfAMessage() {
    int most = tck.attributes().maxMessageSize();
    meet(most, LONG);
    EndpointPair pair = tck.setup().scatterGather(2, 2).connected();
    TestMemory from = pair.client().memory(most, Access.LOCAL_WRITE).fill(1);
    TestMemory more = pair.client().memory(1, Access.LOCAL_WRITE);
    TestMemory into = pair.server().memory(most, Access.LOCAL_WRITE);

    pair.server().post(Requests.receive(1, into));
    pair.client().post(Requests.send(2, from).signaled());

    pair.client().sent().expectSuccess(2, CompletionOpcode.SEND);
    assertThat(pair.server().received().expectSuccess(1, CompletionOpcode.RECV).byteLength())
        .isEqualTo(most);
    into.assertHolds(1);
    try {
      pair.client().post(Requests.send(3, from, more).signaled());
    } catch (PostException e) {
      assertThat(e.error()).isEqualTo(INVALID);
      return;
    }
    pair.client().sent().expectError(3, LOC_LEN_ERR);
  }

  // ---- helpers

  private static TestMemory[] pieces(TestMemory whole, int count) {
    int length = whole.length() / count;
    TestMemory[] pieces = new TestMemory[count];
    for (int i = 0; i < count; i++) {
      pieces[i] = whole.part(i * length, length);
    }
    return pieces;
  }

  /** Skips the test if the device lacks a capability. */
  private void need(Capability capability) {
    if (!tck.supports(capability)) {
      tck.observed("has none");
      throw new TestAbortedException("the device has no " + capability);
    }
  }

  /** Skips the test if the limit is too large for it. */
  private void meet(long limit, int reach) {
    if (limit > reach) {
      tck.observed("limit out of reach");
      throw new TestAbortedException("limit: " + limit + " (met up to " + reach + ")");
    }
  }

  /** Creates objects in two domains, up to the limit of both together. */
  private void holdOnAllDomains(
      int limit, Function<ProtectionDomain, ? extends AutoCloseable> create) throws Exception {
    meet(limit, MANY);
    ProtectionDomain one = tck.domain();
    ProtectionDomain two = tck.domain();

    hold(limit, i -> create.apply(i % 2 == 0 ? one : two));
  }

  /**
   * Creates as many objects as the limit permits. Asserts that one more is refused, and that it can
   * be created after another one was closed.
   */
  private void hold(int limit, Function<Integer, ? extends AutoCloseable> create) throws Exception {
    meet(limit, MANY);
    tck.device();
    AutoCloseable first = create.apply(0);
    try {
      for (int i = 1; i < limit; i++) {
        tck.own(create.apply(i));
      }
      refuses(NO_MEMORY, limit, () -> tck.own(create.apply(limit)));
    } finally {
      first.close();
    }

    tck.own(create.apply(limit));
  }

  private static void refuses(VerbsError error, long limit, ThrowingCallable verb) {
    assertThat(expectFailure(error, "one above " + limit, verb))
        .hasMessageContaining(": " + (limit + 1) + " (expected: ")
        .hasMessageContaining(limit + ")");
  }
}
