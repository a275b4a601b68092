// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static org.awaitility.Awaitility.await;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair with its device, domain and completion queues.
 *
 * @param tck the context of the test, which closes all of them
 * @param device its device
 * @param domain its protection domain
 * @param channel the channel of its completion queues, or null
 * @param sent the completions of send requests
 * @param received the completions of receives
 * @param queuePair the queue pair
 */
record Endpoint(
    TckContext tck,
    Device device,
    ProtectionDomain domain,
    @Nullable CompletionChannel channel,
    CompletionPoller sent,
    CompletionPoller received,
    QueuePair queuePair) {

  /** Registers memory in the domain. */
  TestMemory memory(int length, Access... access) {
    return tck.memory(
        domain, length, access.length == 0 ? Set.of() : EnumSet.of(access[0], access));
  }

  /** Registers memory for the result of a READ. */
  TestMemory sink(int length) {
    return tck.supports(Capability.LOCAL_READ_SINKS)
        ? memory(length, Access.LOCAL_WRITE)
        : memory(length, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
  }

  /** Registers memory with all remote access rights and local write. */
  TestMemory open(int length) {
    EnumSet<Access> all = EnumSet.of(Access.LOCAL_WRITE);
    all.addAll(tck.remoteAccess());
    return tck.memory(domain, length, all);
  }

  void post(SendWorkRequest request) {
    queuePair.postSend(request);
  }

  void post(ReceiveWorkRequest request) {
    queuePair.postReceive(request);
  }

  /** Creates an address handle for the port of {@code peer}. */
  AddressHandle handleTo(Endpoint peer) {
    return tck.own(domain.createAddressHandle(TransitionAttributes.wayTo(peer.device())));
  }

  /** Posts a SEND with an invalid lkey and takes its completion. */
  void failOneOfItsSends() {
    SendWorkRequest request = new SendWorkRequest().id(-1).send().buffer(0x1000, 8, 0x7777_7777);
    if (queuePair.type() == QueuePairType.UD) {
      request.to(handleTo(this), queuePair.number(), TransitionAttributes.QUEUE_KEY);
    }
    post(request);
    sent.expectError(-1, CompletionStatus.LOC_PROT_ERR);
  }

  /** Returns the completion channel of an endpoint that was set up with one. */
  CompletionChannel events() {
    return Objects.requireNonNull(channel, "channel");
  }

  /** Waits until the queue pair is in this state. */
  void awaitState(QueuePairState state) {
    await("queue pair in " + state)
        .atMost(tck.timeout())
        .pollInSameThread()
        .until(queuePair::state, now -> now == state);
  }
}
