// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.ServiceReply;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;
import io.verbena.emulated.engine.Timeline;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.Gid;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Handles a port's service ID resolution: it keeps the listeners for datagrams, the open questions,
 * and the recent answers. If a service has no listener, it answers so.
 *
 * <p>A question beyond the limits of unanswered questions gets no answer, like one beyond a
 * listener's backlog.
 *
 * <p>For one caller at a time, alarms included. Bounded like {@link CmAgent}.
 */
public final class ServiceAgent {
  private final CmPort port;
  private final Timeline timeline;
  private final Map<Long, ServiceListener> listeners = new HashMap<>();
  private final Map<Integer, ServiceResolution> asking = new HashMap<>();
  private final Map<Question, ServiceResolution> asked = new HashMap<>();
  private final CountByAddress<ServiceResolution> undecided;
  private final Set<ServiceResolution> answered = new LinkedHashSet<>();
  private long transactions;

  /** Identifies a peer's question, also when it is repeated. */
  private record Question(Gid peer, int id, long transaction) {}

  ServiceAgent(CmPort port, Timeline timeline, PeerLimits limits) {
    this.port = port;
    this.timeline = timeline;
    undecided = new CountByAddress<>(limits.halfOpen(), limits.halfOpenPerPeer());
    transactions = (long) port.nextSecret() << Integer.SIZE;
  }

  /** Adds a listener for datagrams of a service; false if the service has one. */
  public boolean listen(long serviceId, ServiceListener listener) {
    return listeners.putIfAbsent(serviceId, listener) == null;
  }

  /** Returns whether datagrams of a service have a listener. */
  public boolean isListening(long serviceId) {
    return listeners.containsKey(serviceId);
  }

  /** Removes a listener. */
  public void unlisten(long serviceId, ServiceListener listener) {
    listeners.remove(serviceId, listener);
  }

  /**
   * Asks a peer for the queue pair that serves datagrams.
   *
   * @param request the request, whose id and transaction are filled in here
   * @param timeoutNanos the time that the peer may take
   */
  public ServiceResolution ask(
      Gid peer, ServiceRequest request, long timeoutNanos, ServiceUser user) {
    ServiceRequest sent =
        new ServiceRequest(
            ++transactions,
            nextId(),
            request.partitionKey(),
            request.serviceId(),
            request.privateData());
    ServiceResolution made = ServiceResolution.active(this, timeline, peer, sent, user);
    asking.put(sent.localId(), made);
    made.begin(timeoutNanos);
    return made;
  }

  private int nextId() {
    int id;
    do {
      id = port.nextSecret();
    } while (id == 0 || asking.containsKey(id));
    return id;
  }

  /** Returns the number of questions that it knows, including answered ones. */
  public int known() {
    return asking.size() + asked.size();
  }

  void receive(ServiceRequest request, Gid source) {
    ServiceResolution known = asked.get(question(request, source));
    if (known != null) {
      known.receivedAgain();
      return;
    }
    ServiceListener listener = listeners.get(request.serviceId());
    if (listener == null) {
      port.send(
          new ServiceReply(
              request.transaction(),
              request.localId(),
              ServiceReply.UNSUPPORTED,
              0,
              request.serviceId(),
              0,
              Mad.noData(Mad.SERVICE_REPLY_DATA)),
          source);
      return;
    }
    // The asking peer may name any UDP port.
    Gid address = UdpGid.plain(source);
    if (undecided.isFull(address) || undecided.isFull()) {
      return;
    }
    ServiceResolution made = ServiceResolution.passive(this, timeline, source, request);
    if (listener.asked(made, request)) {
      asked.put(question(request, source), made);
      undecided.add(made, address);
      made.awaitDecision();
    }
  }

  void receive(ServiceReply reply, Gid source) {
    @Nullable ServiceResolution to = asking.get(reply.remoteId());
    if (to != null && port.isFrom(source, to.peer())) {
      to.received(reply);
    }
  }

  private static Question question(ServiceRequest request, Gid peer) {
    return new Question(peer, request.localId(), request.transaction());
  }

  CmPort port() {
    return port;
  }

  void send(CmMessage message, Gid to) {
    port.send(message, to);
  }

  /** Notes that a question is answered; forgets the oldest of those if there are too many. */
  void answered(ServiceResolution resolution) {
    undecided.remove(resolution);
    answered.add(resolution);
    if (answered.size() > CmAgent.MOST_WAITING) {
      answered.iterator().next().end();
    }
  }

  void forget(ServiceResolution resolution) {
    undecided.remove(resolution);
    answered.remove(resolution);
    asking.remove(resolution.request().localId(), resolution);
    asked.remove(question(resolution.request(), resolution.peer()), resolution);
  }
}
