// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.PortSpace;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** A connection manager of one side, with assertions about its events. */
final class ConnectionManagerFixture {
  private final TckContext tck;
  private final Device device;
  private final ConnectionManager manager;

  ConnectionManagerFixture(TckContext tck, Device device) {
    this.tck = tck;
    this.device = device;
    manager = tck.own(device.createConnectionManager());
  }

  Device device() {
    return device;
  }

  ConnectionManager manager() {
    return manager;
  }

  /** Listens on a new address. */
  ConnectionListener listen(int backlog) {
    return listen(PortSpace.TCP, backlog);
  }

  ConnectionListener listen(PortSpace space, int backlog) {
    return tck.own(manager.listen(space, tck.address("listener"), backlog));
  }

  /** Creates an identifier and resolves the address of its peer. */
  ConnectionIdentifier resolve(URI address) {
    return resolve(PortSpace.TCP, address);
  }

  ConnectionIdentifier resolve(PortSpace space, URI address) {
    ConnectionIdentifier identifier =
        tck.own(manager.resolve(space, address, tck.timeout().toNanos()));
    expect(ConnectionEvent.Type.ADDR_RESOLVED, identifier);
    return identifier;
  }

  /** Waits for the next event. */
  ConnectionEvent next() {
    Deadline deadline = Deadline.in(tck.timeout());
    while (!deadline.isOver()) {
      ConnectionEvent event = await(deadline.remainingNanos());
      // Some HCAs wait for stray packets after a disconnect and send this event at an unpredictable
      // time.
      if (event != null && event.type() != ConnectionEvent.Type.TIMEWAIT_EXIT) {
        return event;
      }
    }
    throw new AssertionError("no connection event within " + tck.timeout());
  }

  private @Nullable ConnectionEvent await(long nanos) {
    try {
      return manager.await(nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for a connection event", e);
    }
  }

  /** Waits for the next event, which must be of this type. */
  ConnectionEvent expect(ConnectionEvent.Type type) {
    ConnectionEvent event = next();
    assertThat(event.type()).as("type of %s", event).isEqualTo(type);
    return event;
  }

  /** Waits for the next event, which must be of this type and on this connection. */
  ConnectionEvent expect(ConnectionEvent.Type type, ConnectionIdentifier identifier) {
    ConnectionEvent event = expect(type);
    assertThat(event.identifier()).as("identifier of %s", event).isSameAs(identifier);
    return event;
  }

  /** Waits for a connect request. Its identifier is closed after the test. */
  ConnectionEvent expectRequest() {
    ConnectionEvent request = expect(ConnectionEvent.Type.CONNECT_REQUEST);
    tck.own(request.identifier());
    return request;
  }

  /**
   * Asserts that there is no pending event: the next one is that of an address resolution that
   * starts now.
   */
  void expectNothingMore() {
    ConnectionListener listener = listen(1);
    resolve(listener.address());
    listener.close();
  }
}
