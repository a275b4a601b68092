// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Answered;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectReply;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectRequest;
import io.verbena.emulated.cm.protocol.CmMessage.ReadyToUse;
import io.verbena.emulated.cm.protocol.CmMessage.Receipt;
import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceReply;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.engine.Timeline;
import io.verbena.verbs.Gid;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Handles the communication management messages of a port. The agent keeps the listeners, the
 * connections that are being established or are established, and the ended connections in
 * time-wait. Messages that match none of these are answered only as the specification allows: a REQ
 * without a listener, a stray REP and a stray RTU by REJ, a DREQ by DREP.
 *
 * <p>A REQ beyond the limits of half-open connections, or beyond a listener's backlog, gets no
 * answer: the peer repeats it, and there may be room then, whereas a REJ would fail its connect.
 *
 * <p>Not thread-safe: one caller at a time, alarms included. The size is bounded by the requests of
 * the users, the backlogs of the listeners, {@link PeerLimits} and {@link #MOST_WAITING}.
 */
public final class CmAgent {
  /** The most connections in time-wait. */
  static final int MOST_WAITING = 4096;

  private final CmPort port;
  private final Timeline timeline;
  private final ServiceAgent services;
  private final Map<Long, CmListener> listeners = new HashMap<>();
  private final Map<Integer, Communication> byId = new HashMap<>();
  private final Map<Remote, PassiveCommunication> byRemote = new HashMap<>();

  /** Passive ends that have sent a REP, by the number of their queue pair. */
  private final Map<Integer, PassiveCommunication> byQueuePair = new HashMap<>();

  private final HalfOpenConnections halfOpen;

  /** Passive ends that have not ended, by IP address. */
  private final CountByAddress<PassiveCommunication> accepted;

  private final ProvenAddresses proven = new ProvenAddresses();
  private final AmplificationAllowance unpaid = new AmplificationAllowance();
  private final Set<Communication> waiting = new LinkedHashSet<>();
  private long transactions;

  /** The key of a connection at its peer: the peer's GID and connection id. */
  private record Remote(Gid peer, int id) {}

  public CmAgent(CmPort port, Timeline timeline, PeerLimits limits) {
    this.port = port;
    this.timeline = timeline;
    halfOpen = new HalfOpenConnections(limits);
    accepted = new CountByAddress<>(Integer.MAX_VALUE, limits.perPeer());
    transactions = (long) port.nextSecret() << Integer.SIZE;
    services = new ServiceAgent(port, timeline, limits);
  }

  /** Returns the agent for datagrams. */
  public ServiceAgent services() {
    return services;
  }

  /** Adds a listener for a service; returns false if the service has one. */
  public boolean listen(long serviceId, CmListener listener) {
    return listeners.putIfAbsent(serviceId, listener) == null;
  }

  /** Returns whether a service has a listener. */
  public boolean isListening(long serviceId) {
    return listeners.containsKey(serviceId);
  }

  /** Removes a listener. */
  public void unlisten(long serviceId, CmListener listener) {
    listeners.remove(serviceId, listener);
  }

  /**
   * Requests a connection without a lock.
   *
   * @param request the request; this fills in transaction, id, GUID, and both GIDs
   * @param timeoutNanos the time in nanoseconds within which the peer has to answer
   * @return this end of the connection; {@code user} is notified of its events
   */
  public Communication connect(Gid peer, Request request, long timeoutNanos, CmUser user) {
    return connect(peer, request, null, timeoutNanos, user);
  }

  /**
   * Requests a connection, with a lock if there is a key.
   *
   * @param request the request, whose fields are filled in as in the other method
   * @param key the key that the peer must also have, or null to connect without a lock
   */
  public Communication connect(
      Gid peer, Request request, @Nullable SharedSecret key, long timeoutNanos, CmUser user) {
    Request open =
        new Request(
            nextTransaction(),
            nextId(),
            request.serviceId(),
            port.guid(),
            request.queuePair(),
            request.responderResources(),
            request.initiatorDepth(),
            request.transport(),
            request.startingPsn(),
            request.retryCount(),
            request.partitionKey(),
            request.pathMtu(),
            request.rnrRetry(),
            port.gid(),
            peer,
            request.ackTimeout(),
            request.privateData(),
            null);
    Request sent = key == null ? open : CmKeyHandshake.prove(open, key, port);
    CmKeyHandshake handshake = key == null ? null : CmKeyHandshake.active(key, sent);
    ActiveCommunication made = new ActiveCommunication(this, timeline, peer, sent, handshake, user);
    byId.put(sent.localId(), made);
    made.begin(sent, timeoutNanos);
    return made;
  }

  /** Returns whether no DREQ waits for an answer. */
  public boolean isQuiet() {
    for (Communication each : byId.values()) {
      if (each.isDisconnecting()) {
        return false;
      }
    }
    return true;
  }

  /** Ends the connections to a peer whose process is gone. */
  public void departed(Gid peer) {
    for (Communication each : new ArrayList<>(byId.values())) {
      if (each.peer().equals(peer)) {
        each.departed();
      }
    }
  }

  /** Returns the number of connections, including those in time-wait. */
  public int known() {
    return byId.size();
  }

  /**
   * Notes that a packet has arrived for a queue pair whose connection is not established yet, so
   * that its peer is ready.
   */
  public void packetCame(int queuePair) {
    PassiveCommunication to = byQueuePair.get(queuePair);
    if (to != null) {
      to.receivedReady();
    }
  }

  /**
   * Handles a message.
   *
   * @param source the GID to which answers to an unknown sender go, at the source address of the
   *     packet
   */
  public void receive(CmMessage message, Gid source) {
    if (message instanceof Request request) {
      receive(request, source);
      return;
    }
    if (message instanceof ServiceRequest request) {
      services.receive(request, source);
      return;
    }
    if (message instanceof ServiceReply reply) {
      services.receive(reply, source);
      return;
    }
    Communication to = find(message, source);
    if (to == null) {
      answerStray(message, source);
      return;
    }
    if (!to.isGenuine(message)) {
      return;
    }
    if (message.remoteId() == to.localId()) {
      proven.add(source, timeline.now());
      to.proven();
    }
    if (message instanceof Reply reply) {
      to.received(reply);
    } else if (message instanceof ReadyToUse) {
      to.receivedReady();
    } else if (message instanceof Reject reject) {
      to.received(reject);
    } else if (message instanceof Receipt receipt) {
      to.received(receipt);
    } else if (message instanceof DisconnectRequest request) {
      to.received(request);
    } else if (message instanceof DisconnectReply) {
      to.receivedDisconnected();
    }
  }

  /**
   * Returns the connection of a message, or null. A REJ for a timeout may lack this end's
   * connection id; it then ends only a connection that is not established, since an established
   * peer knows both ids.
   */
  private @Nullable Communication find(CmMessage message, Gid source) {
    Communication found = byId.get(message.remoteId());
    if (found == null && message instanceof Reject reject && reject.remoteId() == 0) {
      return halfOpen.find(source, reject.localId());
    }
    if (found == null || !port.isFrom(source, found.peer())) {
      return null;
    }
    boolean sameName = found.remoteId() == 0 || found.remoteId() == message.localId();
    // A peer that rejects a request need not have assigned an id.
    return sameName || (message instanceof Reject && message.localId() == 0) ? found : null;
  }

  private void receive(Request request, Gid source) {
    Gid peer = request.source();
    if (!port.isFrom(source, peer)) {
      reject(request, Answered.REQUEST, CmReason.INVALID_GID, source);
      return;
    }
    Remote remote = new Remote(peer, request.localId());
    PassiveCommunication known = byRemote.get(remote);
    if (known != null) {
      known.receivedAgain();
      return;
    }
    CmListener listener = listeners.get(request.serviceId());
    if (listener == null) {
      reject(request, Answered.REQUEST, CmReason.INVALID_SERVICE_ID, peer);
    } else if (request.transport() != 0) {
      reject(request, Answered.REQUEST, CmReason.INVALID_TRANSPORT, peer);
    } else if (!CmKeyHandshake.admits(listener.key(), request, port.gid())) {
      reject(request, Answered.REQUEST, CmReason.KEY, peer);
    } else if (request.pathMtu() < 1 || request.pathMtu() > mtu(request)) {
      reject(request, Answered.REQUEST, CmReason.INVALID_MTU, mtu(request), peer);
    } else if (accepted.isFull(source)) {
      reject(request, Answered.REQUEST, CmReason.NO_RESOURCES, peer);
    } else if (halfOpen.hasRoom(source)) {
      boolean trusted = proven.contains(source, timeline.now());
      SharedSecret key = listener.key();
      CmKeyHandshake handshake = key == null ? null : CmKeyHandshake.passive(key, request);
      AmplificationLimit limit = AmplificationLimit.of(unpaid, source, trusted);
      PassiveCommunication made =
          new PassiveCommunication(this, timeline, peer, nextId(), request, handshake, limit);
      CmUser user = listener.requested(made, request);
      if (user != null) {
        made.user(user);
        byId.put(made.localId(), made);
        byRemote.put(remote, made);
        halfOpen.add(made, source);
        accepted.add(made, source);
      }
    }
  }

  private void reject(CmMessage message, Answered kind, int reason, Gid to) {
    reject(message, kind, reason, 0, to);
  }

  private void reject(CmMessage message, Answered kind, int reason, long information, Gid to) {
    port.send(
        new Reject(
            message.transaction(),
            /* localId= */ message.remoteId(),
            /* remoteId= */ message.localId(),
            kind,
            reason,
            information,
            Mad.noData(Mad.REJECT_DATA)),
        to);
  }

  /** Returns the code of the largest path MTU for a request. */
  private int mtu(Request request) {
    return request.lock() == null ? port.mtu() : port.lockedMtu();
  }

  private void answerStray(CmMessage message, Gid source) {
    if (message instanceof DisconnectRequest request) {
      port.send(
          new DisconnectReply(
              request.transaction(),
              /* localId= */ request.remoteId(),
              /* remoteId= */ request.localId(),
              Mad.noData(Mad.READY_DATA)),
          source);
    } else if (message instanceof Reply) {
      reject(message, Answered.REPLY, CmReason.INVALID_COMMUNICATION_ID, source);
    } else if (message instanceof ReadyToUse) {
      // The sender was slow, and assumes a connection that this end has given up meanwhile.
      reject(message, Answered.OTHER, CmReason.INVALID_COMMUNICATION_ID, source);
    }
  }

  void send(CmMessage message, Gid to) {
    port.send(message, to);
  }

  /** Returns the port, which is also the source of random numbers for handshakes. */
  CmPort port() {
    return port;
  }

  long guid() {
    return port.guid();
  }

  AmplificationAllowance unpaid() {
    return unpaid;
  }

  long nextTransaction() {
    return ++transactions;
  }

  private int nextId() {
    int id;
    do {
      id = port.nextSecret();
    } while (id == 0 || byId.containsKey(id));
    return id;
  }

  /** Notes that a passive end has a queue pair and sends its REP. */
  void serves(PassiveCommunication communication) {
    byQueuePair.put(communication.localQueuePair(), communication);
    halfOpen.replied(communication);
  }

  /** Notes that the peer of a passive end is proven: its address is not forged. */
  void proven(PassiveCommunication communication) {
    halfOpen.proven(communication);
  }

  /** Notes that a passive end is established. */
  void established(PassiveCommunication communication) {
    halfOpen.remove(communication);
  }

  /**
   * Notes that a connection is in time-wait; forgets the oldest such connection if there are too
   * many.
   */
  void waits(Communication communication) {
    if (communication instanceof PassiveCommunication passive) {
      halfOpen.remove(passive);
      accepted.remove(passive);
      byQueuePair.remove(passive.localQueuePair(), passive);
    }
    waiting.add(communication);
    if (waiting.size() > MOST_WAITING) {
      waiting.iterator().next().abandon();
    }
  }

  void forget(Communication communication) {
    waiting.remove(communication);
    byId.remove(communication.localId(), communication);
    if (communication instanceof PassiveCommunication passive) {
      byRemote.remove(new Remote(passive.peer(), passive.remoteId()), passive);
    }
  }
}
