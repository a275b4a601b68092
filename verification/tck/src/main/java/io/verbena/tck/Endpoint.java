package io.verbena.tck;

import static org.awaitility.Awaitility.await;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.Gid;
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
 * One end: a queue pair and what it stands on.
 *
 * @param tck the test's context, which closes all of it
 * @param device its device
 * @param domain its protection domain
 * @param channel the channel of its completion queues, or null
 * @param sent where sends complete
 * @param received where receives complete
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

  /** Memory of its domain. */
  TestMemory memory(int length, Access... access) {
    return tck.memory(
        domain, length, access.length == 0 ? Set.of() : EnumSet.of(access[0], access));
  }

  /** Memory of its domain in which peers and the local HCA may do everything. */
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

  /** The way to the port of {@code peer}. */
  AddressHandle handleTo(Endpoint peer) {
    Gid gid = peer.device().port().gids().get(0);
    return tck.own(domain.createAddressHandle(AddressVector.to(gid)));
  }

  /** Sends from memory that is not its own, and takes the completion. */
  void failOneOfItsSends() {
    SendWorkRequest request = new SendWorkRequest().id(-1).send().buffer(0x1000, 8, 0x7777_7777);
    if (queuePair.type() == QueuePairType.UD) {
      request.to(handleTo(this), queuePair.number(), TransitionAttributes.QUEUE_KEY);
    }
    post(request);
    sent.expectError(-1, CompletionStatus.LOC_PROT_ERR);
  }

  /** The channel of an endpoint that was set up with one. */
  CompletionChannel events() {
    return Objects.requireNonNull(channel, "channel");
  }

  /** Waits until the queue pair is in this state. */
  void awaitState(QueuePairState state) {
    await("queue pair in " + state)
        .atMost(tck.patience())
        .pollInSameThread()
        .until(queuePair::state, now -> now == state);
  }
}
