// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.snippets;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsProviders;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Shows the verbs SPI, both ends on one device. */
class VerbsTest {
  private static final long LIMIT = TimeUnit.SECONDS.toNanos(30);

  @Test
  void aPeersMemoryIsRead() throws InterruptedException {
    // snippet: verbs
    URI address = URI.create("emulated://verbs");
    Device device = VerbsProviders.find(address).open(address);
    CompletionQueue completions = device.createCompletionQueue(128, null);
    ProtectionDomain domain = device.allocateProtectionDomain();
    ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
    MemoryRegion region = domain.register(buffer, EnumSet.of(Access.LOCAL_WRITE));
    ConnectionManager manager = device.createConnectionManager();
    // end
    ByteBuffer theirs = ByteBuffer.allocateDirect(4096).put(0, (byte) 42);
    MemoryRegion remote = domain.register(theirs, EnumSet.of(Access.REMOTE_READ));
    ConnectionListener listener = manager.listen(address, 1);
    ConnectionIdentifier connection = manager.resolve(address, LIMIT);
    await(manager, ConnectionEvent.Type.ADDR_RESOLVED);
    QueuePairOptions options = QueuePairOptions.reliable(completions, completions, 64, 64);
    QueuePair pair = connection.createQueuePair(domain, options);
    connection.connect(ConnectionParameters.defaults(), LIMIT);
    ConnectionIdentifier accepted =
        await(manager, ConnectionEvent.Type.CONNECT_REQUEST).identifier();
    QueuePair peer = accepted.createQueuePair(domain, options);
    accepted.accept(ConnectionParameters.defaults());
    await(manager, ConnectionEvent.Type.ESTABLISHED);
    await(manager, ConnectionEvent.Type.ESTABLISHED);
    long remoteAddress = remote.address();
    int remoteKey = remote.rkey();

    // snippet: verbs-read
    SendWorkRequest request = new SendWorkRequest().id(7).read(remoteAddress, remoteKey).signaled();
    pair.postSend(request.buffer(region.address(), 4096, region.lkey()));
    WorkCompletion[] batch = WorkCompletion.array(16);
    while (completions.poll(batch) == 0) {
      Thread.onSpinWait();
    }
    if (!batch[0].isSuccess()) {
      throw new IllegalStateException(batch[0].toString());
    }
    // end

    assertThat(buffer.get(0)).isEqualTo((byte) 42);
    pair.close();
    connection.close();
    peer.close();
    accepted.close();
    listener.close();
    manager.close();
    region.close();
    remote.close();
    domain.close();
    completions.close();
    device.close();
  }

  private static ConnectionEvent await(ConnectionManager manager, ConnectionEvent.Type expected)
      throws InterruptedException {
    ConnectionEvent event = requireNonNull(manager.await(LIMIT), "event");
    assertThat(event.type()).isEqualTo(expected);
    return event;
  }
}
