// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.HcaException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.LimitedProvider;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Tests loops whose own code throws a {@link VirtualMachineError}. */
class LoopBreakdownTest {

  private static Ends oneLoop() {
    return Ends.create(Ends.options().loops(1));
  }

  @Test
  void failsItsConnectionsWithTheCause() {
    try (Ends ends = oneLoop()) {
      Ends.Pair pair = ends.connectLimited();
      Ends.Pair other = ends.connectLimited();
      OutOfMemoryError cause = new OutOfMemoryError("thrown by a test");

      breakLoopOf(pair.client(), cause);

      assertThatThrownBy(() -> pair.client().onClose().block(Ends.LIMIT))
          .isInstanceOf(HcaException.class)
          .hasCause(cause);
      assertThatThrownBy(() -> other.client().onClose().block(Ends.LIMIT))
          .isInstanceOf(HcaException.class)
          .hasCause(cause);
      assertThat(pair.server().onClose().onErrorComplete().thenReturn(true).block(Ends.LIMIT))
          .isTrue();
    }
  }

  @Test
  void connectsByAnotherLoopAfterwards() {
    try (Ends ends = oneLoop()) {
      RdmaConnection lost = ends.connectLimited().client();

      breakLoopOf(lost, new StackOverflowError("thrown by a test"));
      lost.onClose().onErrorComplete().block(Ends.LIMIT);

      Ends.Pair pair = ends.connectLimited();
      assertThat(loopOf(pair.client())).isNotNull();
      assertThat(pair.server().receive().next().map(Ends::take).block(Ends.LIMIT)).hasSize(8);
    }
  }

  @Test
  void acceptsByAnotherLoopAfterwards() throws InterruptedException {
    try (Ends ends = oneLoop()) {
      LinkedBlockingQueue<RdmaConnection> accepted = new LinkedBlockingQueue<>();
      RdmaServer server =
          ends.serverSide()
              .bind(
                  LimitedProvider.limited(Addresses.of("broken-server")),
                  connection -> {
                    accepted.add(connection);
                    return Mono.never();
                  })
              .block(Ends.LIMIT);
      connectTo(server, ends);
      RdmaConnection lost = accepted.poll(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);

      breakLoopOf(lost, new OutOfMemoryError("thrown by a test"));
      lost.onClose().onErrorComplete().block(Ends.LIMIT);

      connectTo(server, ends);
      RdmaConnection next = accepted.poll(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
      assertThat(next).isNotNull();
      assertThat(loopOf(next)).isNotNull();
    }
  }

  private static void connectTo(RdmaServer server, Ends ends) {
    ends.clientSide().connect(Addresses.reach(server.address())).block(Ends.LIMIT);
  }

  private static void breakLoopOf(RdmaConnection connection, Error error) {
    LimitedProvider.breakLoop(loopOf(connection), error);
    send(connection).onErrorComplete().subscribe();
  }

  private static Thread loopOf(RdmaConnection connection) {
    return send(connection).then(Mono.fromSupplier(Thread::currentThread)).block(Ends.LIMIT);
  }

  private static Mono<Void> send(RdmaConnection connection) {
    return connection.send(Mono.fromSupplier(() -> Ends.message(connection, 8, 1)));
  }
}
