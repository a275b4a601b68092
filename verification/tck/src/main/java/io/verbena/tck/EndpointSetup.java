// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/** A builder of endpoints and of connected pairs of them. */
final class EndpointSetup {
  /**
   * The default completion queue depth. It exceeds any rounding up of queue sizes by a device, so
   * that no test overruns by accident.
   */
  private static final int DEPTH = 256;

  private static final int CLIENT_PSN = 0xab_cdef;
  private static final int SERVER_PSN = 0x01_2345;

  private final TckContext tck;
  private QueuePairType type = QueuePairType.RC;
  private @Nullable SharedReceiveQueue serverShared;
  private int sends = 16;
  private int receives = 16;
  private int sendScatterGather = 1;
  private int receiveScatterGather = 1;
  private int inlineData;
  private boolean signalAll;
  private boolean channel;
  private boolean oneQueue;
  private boolean singleThreaded;
  private @Nullable CompletionQueue sentTo;
  private @Nullable ProtectionDomain serverDomain;
  private @Nullable Set<Access> access;
  private int timeout;
  private int retryCount = 7;
  private int rnrRetry = 7;
  private int rnrTimer = TransitionAttributes.RNR_TIMER;
  private int clientPsn = CLIENT_PSN;
  private int psnExpectedByServer = CLIENT_PSN;
  private int maxReadAtomic;
  private int maxDestinationReadAtomic;

  /**
   * Whether the setup has attributes that a connection manager does not set: timers and sequence
   * numbers.
   */
  private boolean isOfWire;

  EndpointSetup(TckContext tck) {
    this.tck = tck;
    timeout = tck.ackTimeout();
    maxReadAtomic = Math.min(16, tck.attributes().maxReadAtomicAsInitiator());
    maxDestinationReadAtomic = Math.min(16, tck.attributes().maxReadAtomicAsResponder());
  }

  /**
   * Sets the type of the queue pairs. Types other than RC need {@link #byHand}; single endpoints
   * may also be UD.
   */
  EndpointSetup type(QueuePairType value) {
    type = value;
    return this;
  }

  /**
   * Sets the shared receive queue of the server's endpoint, which belongs to {@link #serverDomain}.
   */
  EndpointSetup serverShared(SharedReceiveQueue queue) {
    serverShared = queue;
    return this;
  }

  EndpointSetup sends(int value) {
    sends = value;
    return this;
  }

  EndpointSetup receives(int value) {
    receives = value;
    return this;
  }

  EndpointSetup scatterGather(int send, int receive) {
    sendScatterGather = send;
    receiveScatterGather = receive;
    return this;
  }

  EndpointSetup inlineData(int bytes) {
    inlineData = bytes;
    return this;
  }

  EndpointSetup signalAll() {
    signalAll = true;
    return this;
  }

  /** Creates the completion queues with a channel. */
  EndpointSetup channel() {
    channel = true;
    return this;
  }

  /** Uses one completion queue for sends and receives. */
  EndpointSetup oneQueue() {
    oneQueue = true;
    return this;
  }

  /** Sets the send completion queue, of {@link TckContext#device}. For single endpoints. */
  EndpointSetup sendQueue(CompletionQueue queue) {
    sentTo = queue;
    return this;
  }

  /** Creates completion queues that are polled by one thread only. */
  EndpointSetup singleThreaded() {
    singleThreaded = true;
    return this;
  }

  /** Sets the domain of the server's endpoint, of {@link TckContext#serverDevice}. */
  EndpointSetup serverDomain(ProtectionDomain domain) {
    serverDomain = domain;
    return this;
  }

  /** Sets the remote access rights of the queue pairs; needs {@link #byHand}. */
  EndpointSetup access(Access... rights) {
    access = rights.length == 0 ? Set.of() : EnumSet.of(rights[0], rights);
    return this;
  }

  /** Sets the acknowledgement timeout code and the retry count; needs {@link #byHand}. */
  EndpointSetup timeout(int code, int retries) {
    isOfWire = true;
    timeout = code;
    retryCount = retries;
    return this;
  }

  EndpointSetup rnrRetry(int value) {
    rnrRetry = value;
    return this;
  }

  /** Sets the RNR timer code; needs {@link #byHand}. */
  EndpointSetup rnrTimer(int code) {
    isOfWire = true;
    rnrTimer = code;
    return this;
  }

  /** Sets the client's first PSN and the one that the server expects; needs {@link #byHand}. */
  EndpointSetup clientPsn(int value, int expected) {
    isOfWire = true;
    clientPsn = value;
    psnExpectedByServer = expected;
    return this;
  }

  /** Sets the limits of outstanding READs and atomics; needs {@link #byHand}. */
  EndpointSetup readAtomic(int initiator, int responder) {
    maxReadAtomic = initiator;
    maxDestinationReadAtomic = responder;
    return this;
  }

  /** Creates an endpoint with its queue pair in RESET. */
  Endpoint endpoint() {
    return endpoint("", tck.device(), null, null, ProtectionDomain::createQueuePair);
  }

  /** Creates an endpoint and moves its queue pair to {@code state}, connected to itself. */
  Endpoint endpointIn(QueuePairState state) {
    Endpoint end = endpoint();
    QueuePair queuePair = end.queuePair();
    if (state == QueuePairState.RESET) {
      return end;
    }
    queuePair.modify(TransitionAttributes.toInit(type, end.device(), access()));
    if (state == QueuePairState.INIT) {
      return end;
    }
    if (state == QueuePairState.ERR) {
      queuePair.modify(TransitionAttributes.toState(QueuePairState.ERR));
      return end;
    }
    if (!hasAddressVectors()) {
      throw refused(end);
    }
    QueuePairAttributes receive =
        TransitionAttributes.toReadyToReceive(
            type, end.device(), end.device(), queuePair.number(), CLIENT_PSN);
    queuePair.modify(isReliable() ? receive.minRnrTimer(rnrTimer) : receive);
    if (state == QueuePairState.RTR) {
      return end;
    }
    QueuePairAttributes send = TransitionAttributes.toReadyToSend(type, end.device(), CLIENT_PSN);
    queuePair.modify(isReliable() ? send.rnrRetry(rnrRetry) : send);
    if (state == QueuePairState.RTS) {
      return end;
    }
    if (state == QueuePairState.SQE) {
      end.failOneOfItsSends();
      end.awaitState(state);
      return end;
    }
    queuePair.modify(TransitionAttributes.toState(state));
    return end;
  }

  /** Creates two endpoints, connected by connection managers. */
  EndpointPair connected() {
    ConnectionManagerFixture callee = new ConnectionManagerFixture(tck, tck.serverDevice());
    ConnectionManagerFixture caller = new ConnectionManagerFixture(tck, tck.device());
    ConnectionListener listener = callee.listen(1);
    EndpointPair pair = connect(caller, callee, listener);
    listener.close();
    return pair;
  }

  /**
   * Creates two endpoints, connected from the active side {@code caller} to the passive side {@code
   * callee}.
   */
  EndpointPair connect(
      ConnectionManagerFixture caller,
      ConnectionManagerFixture callee,
      ConnectionListener listener) {
    ConnectionIdentifier active = caller.resolve(listener.address());
    Endpoint client = client(caller, active);
    giveRights(client);
    active.connect(parameters(), tck.timeout().toNanos());
    ConnectionIdentifier passive = callee.expectRequest().identifier();
    Endpoint server = server(callee, passive);
    giveRights(server);
    passive.accept(parameters());
    caller.expect(ConnectionEvent.Type.ESTABLISHED, active);
    callee.expect(ConnectionEvent.Type.ESTABLISHED, passive);
    return new EndpointPair(
        client, server, new ConnectionIdentifiers(caller, active, callee, passive));
  }

  /**
   * Restricts the access rights. The connection manager grants all rights, and a queue pair in INIT
   * may be modified to INIT again.
   */
  private void giveRights(Endpoint end) {
    Set<Access> rights = access;
    if (rights != null) {
      end.queuePair().modify(new QueuePairAttributes().access(rights));
    }
  }

  /** Creates the active endpoint with its queue pair in INIT, or in RTS if it is for datagrams. */
  Endpoint client(ConnectionManagerFixture caller, ConnectionIdentifier active) {
    return endpoint("client's ", caller.device(), null, null, active::createQueuePair);
  }

  /** Creates the passive endpoint with its queue pair in INIT, or in RTS if it is for datagrams. */
  Endpoint server(ConnectionManagerFixture callee, ConnectionIdentifier passive) {
    return endpoint(
        "server's ", callee.device(), serverDomain, serverShared, passive::createQueuePair);
  }

  /** Returns connection parameters without private data and with the retry counts of this setup. */
  ConnectionParameters parameters() {
    return new ConnectionParameters(
        ByteBuffer.allocate(0), maxDestinationReadAtomic, maxReadAtomic, retryCount, rnrRetry);
  }

  /**
   * Creates two endpoints and connects them by queue pair transitions, without connection managers;
   * or by connection managers on a device that allows no others, if the setup needs only attributes
   * that they set.
   */
  EndpointPair byHand() {
    if (!hasAddressVectors() && !isOfWire) {
      return connected();
    }
    EndpointPair pair = byHandWithServerIn(QueuePairState.RTR);
    readyToSend(pair.server(), SERVER_PSN);
    return pair;
  }

  /** As {@link #byHand}, but leaves the server's queue pair in INIT or RTR. */
  EndpointPair byHandWithServerIn(QueuePairState state) {
    Endpoint client =
        endpoint("client's ", tck.device(), null, null, ProtectionDomain::createQueuePair);
    Endpoint server =
        endpoint(
            "server's ",
            tck.serverDevice(),
            serverDomain,
            serverShared,
            ProtectionDomain::createQueuePair);
    client.queuePair().modify(TransitionAttributes.toInit(type, client.device(), access()));
    server.queuePair().modify(TransitionAttributes.toInit(type, server.device(), access()));
    if (!hasAddressVectors()) {
      throw refused(client);
    }
    readyToReceive(client, server, SERVER_PSN);
    if (state != QueuePairState.INIT) {
      readyToReceive(server, client, psnExpectedByServer);
    }
    readyToSend(client, clientPsn);
    return new EndpointPair(client, server, null);
  }

  /**
   * Moves the client's queue pair of a pair that was connected {@link #byHand} through RESET to RTS
   * again, with the attributes of this setup. The server's queue pair stays as it is, because no
   * packet has arrived there.
   */
  void connectClientAgain(EndpointPair pair) {
    Endpoint client = pair.client();
    client.queuePair().modify(TransitionAttributes.toState(QueuePairState.RESET));
    client.queuePair().modify(TransitionAttributes.toInit(type, client.device(), access()));
    readyToReceive(client, pair.server(), SERVER_PSN);
    readyToSend(client, clientPsn);
  }

  private boolean hasAddressVectors() {
    return tck.supports(Capability.ADDRESS_VECTORS);
  }

  /** Asserts that the device refuses address vectors; returns the exception that skips the test. */
  private TestAbortedException refused(Endpoint end) {
    Failures.expectFailure(VerbsError.NOT_SUPPORTED, () -> readyToReceive(end, end, CLIENT_PSN));
    return new TestAbortedException("the device has no ADDRESS_VECTORS, and refuses them");
  }

  private Set<Access> access() {
    return access == null ? tck.remoteAccess() : access;
  }

  private void readyToReceive(Endpoint end, Endpoint peer, int peerPsn) {
    QueuePairAttributes receive =
        TransitionAttributes.toReadyToReceive(
            type, end.device(), peer.device(), peer.queuePair().number(), peerPsn);
    end.queuePair()
        .modify(
            isReliable()
                ? receive.maxDestinationReadAtomic(maxDestinationReadAtomic).minRnrTimer(rnrTimer)
                : receive);
  }

  private void readyToSend(Endpoint end, int psn) {
    QueuePairAttributes send = TransitionAttributes.toReadyToSend(type, end.device(), psn);
    end.queuePair()
        .modify(
            isReliable()
                ? send.timeout(timeout)
                    .retryCount(retryCount)
                    .rnrRetry(rnrRetry)
                    .maxReadAtomic(maxReadAtomic)
                : send);
  }

  private boolean isReliable() {
    return type == QueuePairType.RC;
  }

  private Endpoint endpoint(
      String whose,
      Device device,
      @Nullable ProtectionDomain given,
      @Nullable SharedReceiveQueue shared,
      BiFunction<ProtectionDomain, QueuePairOptions, QueuePair> create) {
    ProtectionDomain domain = given == null ? tck.own(device.allocateProtectionDomain()) : given;
    CompletionChannel events = channel ? tck.own(device.createCompletionChannel()) : null;
    int depth = Math.max(DEPTH, 2 * (sends + receives));
    CompletionQueue sendQueue =
        sentTo == null
            ? tck.own(device.createCompletionQueue(depth, events, singleThreaded))
            : sentTo;
    CompletionQueue receiveQueue =
        oneQueue ? sendQueue : tck.own(device.createCompletionQueue(depth, events, singleThreaded));
    QueuePairOptions options = options(sendQueue, receiveQueue);
    QueuePair queuePair =
        tck.own(
            create.apply(
                domain, shared == null ? options : options.withSharedReceiveQueue(shared)));
    CompletionPoller sent =
        new CompletionPoller(sendQueue, whose + "send completion queue", tck, queuePair);
    CompletionPoller received =
        oneQueue
            ? sent
            : new CompletionPoller(receiveQueue, whose + "receive completion queue", tck);
    return new Endpoint(tck, device, domain, events, sent, received, queuePair);
  }

  QueuePairOptions options(CompletionQueue sendQueue, CompletionQueue receiveQueue) {
    return new QueuePairOptions(
        type,
        sendQueue,
        receiveQueue,
        null,
        sends,
        receives,
        sendScatterGather,
        receiveScatterGather,
        inlineData,
        signalAll);
  }
}
