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
 * Handles the service ID resolution of a port. The agent keeps the listeners for datagrams, the
 * unanswered requests, and the recent answers. For a service without a listener, it answers {@link
 * ServiceReply#UNSUPPORTED}.
 *
 * <p>A request beyond the limits of unanswered requests, or beyond a listener's backlog, gets no
 * answer.
 *
 * <p>Not thread-safe: one caller at a time, alarms included. Bounded like {@link CmAgent}.
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

  /** Identifies a request of a peer, also if it is repeated. */
  private record Question(Gid peer, int id, long transaction) {}

  ServiceAgent(CmPort port, Timeline timeline, PeerLimits limits) {
    this.port = port;
    this.timeline = timeline;
    undecided = new CountByAddress<>(limits.halfOpen(), limits.halfOpenPerPeer());
    transactions = (long) port.nextSecret() << Integer.SIZE;
  }

  /** Adds a listener for datagrams of a service; returns false if the service has one. */
  public boolean listen(long serviceId, ServiceListener listener) {
    return listeners.putIfAbsent(serviceId, listener) == null;
  }

  /** Returns whether a service has a listener for datagrams. */
  public boolean isListening(long serviceId) {
    return listeners.containsKey(serviceId);
  }

  /** Removes a listener. */
  public void unlisten(long serviceId, ServiceListener listener) {
    listeners.remove(serviceId, listener);
  }

  /**
   * Requests the queue pair that serves datagrams from a peer.
   *
   * @param request the request, whose id and transaction this fills in
   * @param timeoutNanos the time in nanoseconds within which the peer has to answer
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

  /** Returns the number of requests that this agent remembers, including answered ones. */
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
    // The limit is by IP address, since the peer may name any UDP port.
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

  /**
   * Notes that a request is answered; forgets the oldest answered request if there are too many.
   */
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
