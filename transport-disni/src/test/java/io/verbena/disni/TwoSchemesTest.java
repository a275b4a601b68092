// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Tests one device that {@code disni://} and another scheme use in one process. */
@Tag(FakeRdmaCore.TAG)
@Isolated("the script is one for the whole process")
final class TwoSchemesTest {
  private static final long NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final String HOST = "10.0.1.1:0";
  private static final ConnectionParameters PARAMETERS =
      new ConnectionParameters(ByteBuffer.allocate(0), 1, 1, 7, 7);

  @BeforeAll
  static void needsBoth() {
    FakeRdmaCore.assumeLoaded();
    assumeFalse(FakeRdmaCore.SCHEME.equals("disni"), "run by the module of another scheme");
  }

  /** The objects of one scheme on the device. */
  private static final class End implements AutoCloseable {
    final DisniDevice device;
    final DisniProtectionDomain domain;
    final DisniCompletionQueue queue;
    final DisniConnectionManager manager;
    final ByteBuffer bytes = ByteBuffer.allocateDirect(8);
    final MemoryRegion memory;

    End(URI address) {
      device = FakeRdmaCore.open(address);
      domain = device.allocateProtectionDomain();
      queue = device.createCompletionQueue(16, null, false);
      manager = device.createConnectionManager();
      memory = domain.register(bytes, Set.of(Access.LOCAL_WRITE));
    }

    ConnectionIdentifier expect(ConnectionEvent.Type type) throws InterruptedException {
      ConnectionEvent event = manager.await(NANOS);
      assertThat(event).isNotNull();
      assertThat(event.type()).isEqualTo(type);
      return event.identifier();
    }

    QueuePair pair(ConnectionIdentifier of) {
      return of.createQueuePair(domain, QueuePairOptions.reliable(queue, queue, 4, 4));
    }

    void complete() {
      WorkCompletion[] one = WorkCompletion.array(1);
      long start = System.nanoTime();
      while (queue.poll(one) == 0) {
        assertThat(System.nanoTime() - start).as("time without one").isLessThan(NANOS);
        Thread.onSpinWait();
      }
      assertThat(one[0].isSuccess()).as("%s", one[0]).isTrue();
    }

    @Override
    public void close() {
      memory.close();
      manager.close();
      queue.close();
      domain.close();
      device.close();
    }
  }

  @Test
  void reachEachOther() throws Exception {
    try (End client = new End(URI.create("disni://" + HOST));
        End server = new End(FakeRdmaCore.uri(HOST))) {
      ConnectionListener listener = server.manager.listen(FakeRdmaCore.uri(HOST), 1);
      URI peer = URI.create("disni://10.0.1.1:" + listener.address().getPort());
      ConnectionIdentifier active = client.manager.resolve(peer, NANOS);
      client.expect(ConnectionEvent.Type.ADDR_RESOLVED);
      QueuePair sender = client.pair(active);
      active.connect(PARAMETERS, NANOS);
      ConnectionIdentifier passive = server.expect(ConnectionEvent.Type.CONNECT_REQUEST);
      QueuePair receiver = server.pair(passive);
      receiver.postReceive(
          new ReceiveWorkRequest().buffer(server.memory.address(), 8, server.memory.lkey()));
      passive.accept(PARAMETERS);
      client.expect(ConnectionEvent.Type.ESTABLISHED);
      server.expect(ConnectionEvent.Type.ESTABLISHED);

      client.bytes.putLong(0, 42);
      sender.postSend(
          new SendWorkRequest()
              .send()
              .buffer(client.memory.address(), 8, client.memory.lkey())
              .signaled());
      client.complete();
      server.complete();

      assertThat(server.bytes.getLong(0)).isEqualTo(42);
      sender.close();
      receiver.close();
      active.close();
      passive.close();
      listener.close();
    }
  }

  @Test
  void bothHearOfTheDevice() throws Exception {
    URI ours = FakeRdmaCore.uri("10.0.20.1:0");
    try (DisniDevice one = FakeRdmaCore.open(ours);
        DisniDevice other = FakeRdmaCore.open(URI.create("disni://10.0.20.1:0"))) {
      FakeRdmaCore.script("down mlx5_20 1");

      assertThat(one.awaitAsyncEvent(NANOS))
          .isEqualTo(new AsyncEvent(AsyncEvent.Type.PORT_ERR, null));
      assertThat(other.awaitAsyncEvent(NANOS))
          .isEqualTo(new AsyncEvent(AsyncEvent.Type.PORT_ERR, null));
    } finally {
      FakeRdmaCore.script("up mlx5_20 1");
    }
  }
}
