// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.protocol.CmMessage.ServiceReply;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;
import io.verbena.emulated.cm.protocol.Mad;
import io.verbena.emulated.cm.protocol.ServiceId;
import io.verbena.emulated.cm.protocol.ServiceResolution;
import io.verbena.emulated.cm.protocol.ServiceUser;
import io.verbena.emulated.cm.roce.HostNaming.Destination;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DatagramPeer;
import io.verbena.verbs.Gid;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.provider.ConnectionLimits;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a datagram resolution over a wire.
 *
 * <pre>{@code
 * active                               passive
 * RESOLVED                             REQUESTED
 *    | connect: SIDR_REQ                  | accept: SIDR_REP    | reject, close: SIDR_REP
 * CONNECTING                              |                     |
 *    | SIDR_REP, deadline, close          |                     |
 * ENDED  <--------------------------------+---------------------+
 * }</pre>
 */
final class RoceDatagrams extends RoceIdentifier implements ServiceUser {
  private @Nullable ServiceResolution resolution;

  private RoceDatagrams(
      RoceConnectionManager manager,
      Gid peer,
      int peerPort,
      String peerName,
      int service,
      State state,
      @Nullable ServiceResolution resolution) {
    super(manager, PortSpace.UDP, peer, peerPort, peerName, service, state);
    this.resolution = resolution;
  }

  /** Creates an active end. */
  static RoceDatagrams resolved(RoceConnectionManager manager, Destination to) {
    return new RoceDatagrams(
        manager, to.host(), to.port(), to.name(), /* service= */ 0, State.RESOLVED, null);
  }

  /** Creates a passive end, and raises its request to the program. */
  static void requested(
      RoceConnectionManager manager,
      RoceListener listener,
      ServiceResolution resolution,
      ServiceRequest request) {
    ByteBuffer data = request.privateData();
    int port = RequestData.port(data);
    RoceDatagrams made =
        new RoceDatagrams(
            manager,
            resolution.peer(),
            port,
            manager.name(resolution.peer(), port),
            ServiceId.port(request.serviceId()),
            State.REQUESTED,
            resolution);
    manager.raise(
        new ConnectionEvent(
            ConnectionEvent.Type.CONNECT_REQUEST,
            made,
            listener,
            0,
            RequestData.ofProgram(data),
            0,
            0));
  }

  // ---- active end

  @Override
  public synchronized void connect(ConnectionParameters offered, long timeoutNanos) {
    ByteBuffer data = offered.privateData();
    ConnectionLimits.checkData("connect", data, ConnectionParameters.MAX_DATAGRAM_CONNECT_DATA);
    requireQueuePair("connect", State.RESOLVED);
    state = State.CONNECTING;
    ServiceRequest asked =
        new ServiceRequest(
            0,
            0,
            DEFAULT_PARTITION,
            ServiceId.of(ServiceId.UDP, peerPort),
            RequestData.of(manager(), ownPort, peer, data, Mad.SERVICE_REQUEST_DATA));
    onFabric(() -> resolution = manager().agent().services().ask(peer, asked, timeoutNanos, this));
  }

  @Override
  public void answered(ServiceReply reply) {
    manager().note(() -> complete(reply));
  }

  private synchronized void complete(ServiceReply reply) {
    if (state != State.CONNECTING) {
      return;
    }
    state = State.ENDED;
    boolean named = reply.status() == ServiceReply.NAMED;
    manager()
        .raise(
            new ConnectionEvent(
                named ? ConnectionEvent.Type.ESTABLISHED : ConnectionEvent.Type.UNREACHABLE,
                this,
                null,
                reply.status(),
                reply.privateData(),
                0,
                0,
                named
                    ? new DatagramPeer(AddressVector.to(peer), reply.queuePair(), reply.queueKey())
                    : null));
  }

  @Override
  public void unreachable(int why) {
    manager().note(() -> endBefore(why));
  }

  private synchronized void endBefore(int why) {
    if (state == State.CONNECTING) {
      state = State.ENDED;
      manager()
          .raise(
              new ConnectionEvent(
                  ConnectionEvent.Type.UNREACHABLE, this, null, why, NO_DATA, 0, 0));
    }
  }

  // ---- passive end

  @Override
  public synchronized void accept(ConnectionParameters offered) {
    ByteBuffer data = offered.privateData();
    ConnectionLimits.checkData("accept", data, ConnectionParameters.MAX_DATAGRAM_ACCEPT_DATA);
    EmulatedQueuePair own = requireQueuePair("accept", State.REQUESTED);
    answer(ServiceReply.NAMED, own.number(), DatagramPeer.QUEUE_KEY, data);
  }

  @Override
  public synchronized void reject(ByteBuffer privateData) {
    ConnectionLimits.checkData(
        "reject", privateData, ConnectionParameters.MAX_DATAGRAM_ACCEPT_DATA);
    requireState("reject", State.REQUESTED);
    answer(ServiceReply.REJECTED, 0, 0, privateData);
  }

  private void answer(int status, int number, int key, ByteBuffer data) {
    state = State.ENDED;
    ServiceReply reply =
        new ServiceReply(0, 0, status, number, 0, key, Mad.padded(data, Mad.SERVICE_REPLY_DATA));
    ServiceResolution ours = resolution;
    if (ours != null) {
      onFabric(() -> ours.answer(reply));
    }
  }

  // ---- both

  @Override
  protected void giveUp() {
    ServiceResolution ours = resolution;
    if (state == State.CONNECTING && ours != null) {
      onFabric(ours::withdraw);
    } else if (state == State.REQUESTED) {
      answer(ServiceReply.REJECTED, 0, 0, NO_DATA);
    }
  }

  private void onFabric(Runnable step) {
    manager().fabric().entered(step);
    manager().fabric().wake();
  }
}
