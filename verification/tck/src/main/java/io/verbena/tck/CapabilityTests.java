// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Capability.ATOMICS;
import static io.verbena.verbs.Capability.COMPLETION_QUEUE_RESIZE;
import static io.verbena.verbs.Capability.IMMEDIATE_DATA;
import static io.verbena.verbs.Capability.INLINE_DATA;
import static io.verbena.verbs.Capability.LOCAL_INVALIDATE;
import static io.verbena.verbs.Capability.MEMORY_WINDOW_TYPE_1;
import static io.verbena.verbs.Capability.MEMORY_WINDOW_TYPE_2B;
import static io.verbena.verbs.Capability.REREGISTRATION;
import static io.verbena.verbs.Capability.SEND_QUEUE_DRAIN;
import static io.verbena.verbs.Capability.SEND_WITH_IMMEDIATE;
import static io.verbena.verbs.Capability.SEND_WITH_INVALIDATE;
import static io.verbena.verbs.Capability.SHARED_RECEIVE_QUEUE;
import static io.verbena.verbs.Capability.UNRELIABLE_CONNECTED;
import static io.verbena.verbs.Capability.UNRELIABLE_DATAGRAM;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendWorkRequest;
import java.util.EnumSet;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/**
 * For each capability, the verbs that need it work, or fail with NOT_SUPPORTED and with no other
 * error.
 */
abstract class CapabilityTests extends VerbsTests {
  CapabilityTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void hasUnreliableConnectionsOrSaysNo() {
    worksOrIsRefused(UNRELIABLE_CONNECTED, () -> createQueuePair(QueuePairType.UC));
  }

  @Test
  void hasUnreliableDatagramsOrSaysNo() {
    worksOrIsRefused(UNRELIABLE_DATAGRAM, () -> createQueuePair(QueuePairType.UD));
  }

  @Test
  void hasAddressHandlesOrSaysNo() {
    ProtectionDomain domain = tck.domain();
    AddressVector vector = TransitionAttributes.wayTo(tck.device());

    worksOrIsRefused(UNRELIABLE_DATAGRAM, () -> tck.own(domain.createAddressHandle(vector)));
  }

  @Test
  void hasSharedReceiveQueuesOrSaysNo() {
    ProtectionDomain domain = tck.domain();

    worksOrIsRefused(SHARED_RECEIVE_QUEUE, () -> tck.own(domain.createSharedReceiveQueue(4, 1)));
  }

  @Test
  void hasMemoryWindowsOfType1OrSaysNo() {
    ProtectionDomain domain = tck.domain();

    worksOrIsRefused(
        MEMORY_WINDOW_TYPE_1, () -> tck.own(domain.allocateMemoryWindow(MemoryWindowType.TYPE_1)));
  }

  @Test
  void hasMemoryWindowsOfType2OrSaysNo() {
    ProtectionDomain domain = tck.domain();

    worksOrIsRefused(
        MEMORY_WINDOW_TYPE_2B,
        () -> tck.own(domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B)));
  }

  @Test
  void reregistersRegionsOrSaysNo() {
    TestMemory memory = tck.memory(tck.domain(), 64, Set.of());

    worksOrIsRefused(
        REREGISTRATION,
        () -> memory.region().reregister(null, null, EnumSet.of(Access.LOCAL_WRITE)));
  }

  @Test
  void resizesCompletionQueuesOrSaysNo() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));

    worksOrIsRefused(COMPLETION_QUEUE_RESIZE, () -> queue.resize(8));
  }

  @Test
  void drainsSendQueuesOrSaysNo() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.RTS);

    worksOrIsRefused(
        SEND_QUEUE_DRAIN,
        () -> end.queuePair().modify(TransitionAttributes.toState(QueuePairState.SQD)));
    assertThat(end.queuePair().state())
        .isEqualTo(tck.supports(SEND_QUEUE_DRAIN) ? QueuePairState.SQD : QueuePairState.RTS);
  }

  @Test
  void grantsInlineDataOrSaysNo() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));
    QueuePairOptions options = QueuePairOptions.reliable(queue, queue, 1, 1).withInlineData(1);
    ProtectionDomain domain = tck.domain();

    worksOrIsRefused(INLINE_DATA, () -> tck.own(domain.createQueuePair(options)));
  }

  @Test
  void sendsInlineOrSaysNo() {
    completesOrIsRefused(INLINE_DATA);
  }

  @Test
  void carriesImmediatesOrSaysNo() {
    completesOrIsRefused(IMMEDIATE_DATA);
    completesOrIsRefused(SEND_WITH_IMMEDIATE);
  }

  @Test
  void hasAtomicsOrSaysNo() {
    completesOrIsRefused(ATOMICS);
  }

  @Test
  void sendsWithInvalidateOrSaysNo() {
    completesOrIsRefused(SEND_WITH_INVALIDATE);
  }

  @Test
  void invalidatesLocallyOrSaysNo() {
    completesOrIsRefused(LOCAL_INVALIDATE);
  }

  private void worksOrIsRefused(Capability capability, ThrowingCallable verb) {
    if (tck.supports(capability)) {
      assertThatCode(verb)
          .as("the device reports the capability %s", capability)
          .doesNotThrowAnyException();
    } else {
      expectFailure(NOT_SUPPORTED, "a verb that needs " + capability, verb);
    }
  }

  private void completesOrIsRefused(Capability capability) {
    EndpointPair pair = tck.setup().inlineData(tck.supports(INLINE_DATA) ? 8 : 0).connected();
    assertThat(pair.client().queuePair().supports(capability))
        .as("the queue pair supports %s", capability)
        .isEqualTo(tck.supports(capability));
    if (!tck.supports(capability)) {
      UnsupportedRequests.assertRefused(capability, pair);
      return;
    }
    for (SendWorkRequest request : UnsupportedRequests.requests(capability, pair)) {
      pair.server().post(Requests.receive(1, pair.server().memory(64, Access.LOCAL_WRITE)));
      pair.client().post(request.id(7).signaled());
      assertThat(pair.client().sent().next().workRequestId()).isEqualTo(7);
    }
  }

  private void createQueuePair(QueuePairType type) {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));
    QueuePairOptions options = QueuePairOptions.reliable(queue, queue, 1, 1).withType(type);
    assertThat(tck.own(tck.domain().createQueuePair(options)).type()).isEqualTo(type);
  }
}
