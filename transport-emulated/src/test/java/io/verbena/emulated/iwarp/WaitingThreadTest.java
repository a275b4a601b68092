// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.Caller;
import io.verbena.emulated.ForeignClient;
import io.verbena.emulated.ForeignFpdus;
import io.verbena.emulated.ForeignPeer;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A thread that waits for an event waits on the sockets itself, so that arriving bytes wake it
 * directly and not through another thread.
 */
@Tag("once")
class WaitingThreadTest {

  @Test
  void whoWaitsForAnEventTakesWhatComes() throws Exception {
    try (Caller caller = new Caller(ForeignPeer.ANY);
        CompletionChannel channel = caller.device.createCompletionChannel();
        CompletionQueue queue = caller.device.createCompletionQueue(4, channel);
        ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ForeignPeer.ANY, 1);
        Socket peer = ForeignPeer.connect(listener)) {
      ForeignPeer.write(peer, ForeignPeer.REQUEST);
      try (ConnectionIdentifier passive =
              caller.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
          QueuePair pair =
              passive.createQueuePair(
                  caller.domain(), QueuePairOptions.reliable(queue, queue, 2, 2))) {
        pair.postReceive(
            new ReceiveWorkRequest(1)
                .buffer(
                    caller.region.address(), ForeignClient.RECEIVE_BYTES, caller.region.lkey()));
        passive.accept(ConnectionParameters.defaults());
        assertThat(ForeignPeer.read(peer, 24)).startsWith(ForeignPeer.REPLY);
        queue.arm(false);
        CompletableFuture<Thread> waits = new CompletableFuture<>();
        CompletableFuture<CompletionQueue> event =
            CompletableFuture.supplyAsync(
                () -> {
                  waits.complete(Thread.currentThread());
                  return awaitEvent(channel);
                });
        Thread waiting = waits.get(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS);
        await().atMost(Caller.LIMIT).until(() -> sleepsInSockets(waiting));

        ForeignPeer.write(peer, ForeignFpdus.send());

        assertThat(event.get(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS)).isSameAs(queue);
        queue.acknowledgeEvents(1);
      }
    }
  }

  private static CompletionQueue awaitEvent(CompletionChannel channel) {
    try {
      return channel.await(Caller.LIMIT.toNanos());
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean sleepsInSockets(Thread thread) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(each -> each.getClassName().equals(SocketSelector.class.getName()));
  }
}
