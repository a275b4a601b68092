// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * A program on a {@code libdisni.so} from {@code java.library.path}. Prints the address from which
 * a connection with a {@code source} leaves, and the event of a connection to a datagram listener.
 */
final class UsersLibrary {
  private static final long NANOS = TimeUnit.SECONDS.toNanos(10);

  private UsersLibrary() {}

  public static void main(String[] arguments) throws Exception {
    System.out.println(
        NativeLibrary.open(Platform.current(), System.getProperty("java.library.path")));
    System.out.println("leaves from " + source());
    System.out.println("asks for datagrams: " + ofDatagrams());
  }

  private static String source() throws InterruptedException {
    URI address = FakeRdmaCore.uri("10.0.3.1:0");
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniConnectionManager manager = device.createConnectionManager();
        DisniListener listener = manager.listen(PortSpace.TCP, address, 1);
        DisniConnection active =
            manager.resolve(
                PortSpace.TCP, URI.create(listener.address() + "?source=10.0.3.10"), NANOS)) {
      assertThat(event(manager)).isEqualTo(ConnectionEvent.Type.ADDR_RESOLVED);
      InetSocketAddress local = Objects.requireNonNull(active.localAddress(), "local address");
      return local.getHostString();
    }
  }

  private static ConnectionEvent.Type ofDatagrams() throws InterruptedException {
    URI address = FakeRdmaCore.uri("10.0.24.1:0");
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        DisniCompletionQueue queue = device.createCompletionQueue(4, null, false);
        DisniConnectionManager manager = device.createConnectionManager();
        DisniListener listener = manager.listen(PortSpace.UDP, address, 1);
        DisniConnection active = manager.resolve(PortSpace.TCP, listener.address(), NANOS)) {
      assertThat(event(manager)).isEqualTo(ConnectionEvent.Type.ADDR_RESOLVED);
      try (QueuePair pair =
          active.createQueuePair(domain, QueuePairOptions.reliable(queue, queue, 1, 1))) {
        active.connect(ConnectionParameters.defaults(), NANOS);
        assertThat(active.queuePair()).isSameAs(pair);
        return event(manager);
      }
    }
  }

  private static ConnectionEvent.Type event(DisniConnectionManager manager)
      throws InterruptedException {
    return Objects.requireNonNull(manager.await(NANOS), "event").type();
  }
}
