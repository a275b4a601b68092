// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.local;

import io.verbena.verbs.AddressVector;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DatagramPeer;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.provider.ConnectionLimits;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a datagram resolution within a JVM: the request for the queue pair that serves a name,
 * and its answer. The passive end does not learn whether the active end still waits, since nothing
 * is connected.
 *
 * <pre>{@code
 * active                               passive
 * RESOLVED  -- connect, request ---->  REQUESTED
 * CONNECTING                              | accept, reject, close
 * ENDED  <----------------------------- ENDED
 *    |  the timeout of connect, or close
 * }</pre>
 */
final class LocalDatagrams extends LocalIdentifier {
  private final @Nullable LocalDatagrams asker;

  private LocalDatagrams(
      LocalConnectionManager manager,
      String name,
      Object lock,
      State state,
      @Nullable LocalDatagrams asker) {
    super(
        manager, PortSpace.UDP, name, lock, state, ConnectionParameters.MAX_DATAGRAM_CONNECT_DATA);
    this.asker = asker;
    manager.opened(this);
  }

  static LocalDatagrams active(LocalConnectionManager manager, String name) {
    return new LocalDatagrams(manager, name, new Object(), State.RESOLVED, null);
  }

  @Override
  ConnectionEvent requestNow(LocalListener listener, ByteBuffer data) {
    LocalDatagrams passive =
        new LocalDatagrams(listener.manager(), name, lock, State.REQUESTED, this);
    return new ConnectionEvent(
        ConnectionEvent.Type.CONNECT_REQUEST, passive, listener, 0, data, 0, 0);
  }

  @Override
  void nobodyListens() {
    raise(ConnectionEvent.Type.UNREACHABLE, ConnectionEvent.DATAGRAMS_UNSUPPORTED, NO_DATA);
  }

  @Override
  void gaveUp() {}

  @Override
  public void accept(ConnectionParameters offered) {
    check("accept", offered, ConnectionParameters.MAX_DATAGRAM_ACCEPT_DATA);
    ByteBuffer data = copy(offered.privateData());
    manager.device().requireWhole("accept");
    synchronized (lock) {
      int number = requireQueuePair("accept", State.REQUESTED).number();
      AddressVector here = AddressVector.to(manager.device().gid());
      answer(
          ConnectionEvent.Type.ESTABLISHED,
          0,
          data,
          new DatagramPeer(here, number, DatagramPeer.QUEUE_KEY));
    }
  }

  @Override
  public void reject(ByteBuffer privateData) {
    ConnectionLimits.checkData(
        "reject", privateData, ConnectionParameters.MAX_DATAGRAM_ACCEPT_DATA);
    ByteBuffer data = copy(privateData);
    synchronized (lock) {
      requireState("reject", State.REQUESTED);
      refuse(data);
    }
  }

  @Override
  public void disconnect() {}

  @Override
  void leave() {
    if (state == State.REQUESTED) {
      refuse(NO_DATA);
    }
  }

  private void refuse(ByteBuffer data) {
    answer(ConnectionEvent.Type.UNREACHABLE, ConnectionEvent.DATAGRAMS_REJECTED, data, null);
  }

  private void answer(
      ConnectionEvent.Type type, int status, ByteBuffer data, @Nullable DatagramPeer peer) {
    state = State.ENDED;
    LocalDatagrams active = asker;
    if (active != null && active.state == State.CONNECTING) {
      active.endWait(State.ENDED);
      active.raise(new ConnectionEvent(type, active, null, status, data, 0, 0, peer));
    }
  }
}
