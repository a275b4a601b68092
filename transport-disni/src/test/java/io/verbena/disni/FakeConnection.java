// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A device of the fake rdma-core, connected to itself by its connection manager. */
final class FakeConnection implements AutoCloseable {
  private static final long NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long PAUSE_NANOS = 20_000;
  private static final ConnectionParameters PARAMETERS =
      new ConnectionParameters(ByteBuffer.allocate(0), 1, 1, 7, 7);

  final Device device;
  final ProtectionDomain domain;
  final @Nullable CompletionChannel channel;
  final CompletionQueue completions;
  final ConnectionManager manager;
  final ConnectionListener listener;
  final ConnectionIdentifier active;
  final QueuePair client;
  final ConnectionIdentifier passive;
  final QueuePair server;

  /**
   * @param listens the address at which the device opens and listens, as {@code disni://10.0.1.1:0}
   * @param options options of the device's address, as {@code ?device=mlx5_0}
   */
  FakeConnection(URI listens, String options, boolean withChannel) throws InterruptedException {
    this(listens, options, withChannel, 8, 0);
  }

  /**
   * @param requests the depth of each queue
   * @param inline maximum bytes of inline data per send
   */
  FakeConnection(URI listens, String options, boolean withChannel, int requests, int inline)
      throws InterruptedException {
    device = FakeRdmaCore.open(URI.create(listens + options));
    domain = device.allocateProtectionDomain();
    channel = withChannel ? device.createCompletionChannel() : null;
    completions = device.createCompletionQueue(8 * requests, channel);
    manager = device.createConnectionManager();
    listener = manager.listen(listens, 1);
    active = manager.resolve(listener.address(), NANOS);
    expect(ConnectionEvent.Type.ADDR_RESOLVED);
    QueuePairOptions pair =
        QueuePairOptions.reliable(completions, completions, requests, requests)
            .withInlineData(inline);
    client = active.createQueuePair(domain, pair);
    active.connect(PARAMETERS, NANOS);
    passive = expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
    server = passive.createQueuePair(domain, pair);
    passive.accept(PARAMETERS);
    expect(ConnectionEvent.Type.ESTABLISHED);
    expect(ConnectionEvent.Type.ESTABLISHED);
  }

  /** Waits for the next event of the connection manager. */
  ConnectionEvent expect(ConnectionEvent.Type type) throws InterruptedException {
    ConnectionEvent event = manager.await(NANOS);
    assertThat(event).as("the event %s", type).isNotNull();
    assertThat(event.type()).as("%s", event).isEqualTo(type);
    return event;
  }

  /** Waits for the next completion. */
  WorkCompletion complete() {
    WorkCompletion[] one = WorkCompletion.array(1);
    long start = System.nanoTime();
    while (completions.poll(one) == 0) {
      assertThat(System.nanoTime() - start).as("time without a completion").isLessThan(NANOS);
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return one[0];
  }

  @Override
  public void close() {
    client.close();
    server.close();
    active.close();
    passive.close();
    listener.close();
    manager.close();
    completions.close();
    if (channel != null) {
      channel.close();
    }
    domain.close();
    device.close();
  }
}
