// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import static io.verbena.emulated.ForeignPeer.ANY;
import static io.verbena.emulated.ForeignPeer.REPLY;
import static io.verbena.emulated.ForeignPeer.REQUEST;
import static io.verbena.emulated.ForeignPeer.TIMEOUT;
import static io.verbena.emulated.ForeignPeer.connect;
import static io.verbena.emulated.ForeignPeer.hex;
import static io.verbena.emulated.ForeignPeer.isClosed;
import static io.verbena.emulated.ForeignPeer.read;
import static io.verbena.emulated.ForeignPeer.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.Caller;
import io.verbena.emulated.ForeignPeer;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A queue pair is lost during the handshake: its socket is closed, the peer notices the end, and
 * the program gets exactly one event.
 */
@Tag("once")
class HandshakeTest {
  private static final String REJECTION = REPLY + "3002000400000000";
  private static final String REQUEST_FOR_AN_EMPTY_MESSAGE =
      hex("MPA ID Req Frame") + "1002000480048004";

  /** The ways in which a queue pair is lost. */
  private enum Loss {
    FAILED {
      @Override
      void happen(EmulatedQueuePair pair) {
        pair.fail();
      }
    },
    MODIFIED {
      @Override
      void happen(EmulatedQueuePair pair) {
        pair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
      }
    },
    CLOSED {
      @Override
      void happen(EmulatedQueuePair pair) {
        pair.close();
      }
    };

    abstract void happen(EmulatedQueuePair pair);
  }

  private final Caller caller = new Caller(ANY);
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /** The active end, which connects to a peer, and the peer's socket. */
  private record Asked(ConnectionIdentifier active, Socket peer) {}

  @AfterEach
  void leavesNothing() throws Exception {
    try (Caller last = caller) {
      for (AutoCloseable each : open) {
        each.close();
      }
      // Once the last socket is closed, all events of the program are queued.
      await().atMost(Caller.LIMIT).until(() -> !fabric().sockets().hasStreams());
      assertThat(last.manager.await(0)).isNull();
    }
  }

  private <T extends AutoCloseable> T own(T opened) {
    open.push(opened);
    return opened;
  }

  private Asked ask(long timeoutNanos) throws Exception {
    ServerSocket server = own(new ServerSocket(0, 1, InetAddress.getByName(Loopbacks.ADDRESS)));
    server.setSoTimeout(TIMEOUT);
    ConnectionIdentifier active =
        caller.resolve(URI.create("iwarp://" + Loopbacks.ADDRESS + ":" + server.getLocalPort()));
    active.connect(ConnectionParameters.defaults(), timeoutNanos);
    Socket peer = own(server.accept());
    peer.setSoTimeout(TIMEOUT);
    return new Asked(active, peer);
  }

  /** Connects to a peer, which reads the request. */
  private Asked ask() throws Exception {
    Asked asked = ask(Caller.LIMIT.toNanos());
    assertThat(read(asked.peer, 24)).startsWith(hex("MPA ID Req Frame"));
    return asked;
  }

  private ConnectionListener listen() {
    return own(caller.manager.listen(PortSpace.TCP, ANY, 1));
  }

  /** Returns a peer that sends this request to the listener. */
  private Socket asking(ConnectionListener listener, String request) throws IOException {
    Socket peer = own(connect(listener));
    write(peer, request);
    return peer;
  }

  private ConnectionIdentifier requested() throws InterruptedException {
    ConnectionIdentifier passive = caller.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
    assertThat(caller.queuePair(passive).number()).isPositive();
    return passive;
  }

  @ParameterizedTest
  @EnumSource
  void endsAtTheActiveEndThatHasLostItsQueuePair(Loss loss) throws Exception {
    Asked asked = ask();

    loss.happen(pair(asked.active));
    write(asked.peer, REPLY + "1002000400040004");

    assertEndedBy(ConnectionEvent.Type.CONNECT_ERROR);
    assertThat(isClosed(asked.peer)).isTrue();
  }

  /** The queue pair fails after its change to RTS and before it owns the stream. */
  @Test
  void endsAtTheActiveEndWhoseQueuePairFailsAsItConnects() throws Exception {
    Asked asked = ask();
    EmulatedQueuePair pair = pair(asked.active);
    CompletableFuture<ConnectionEvent> event;

    fabric().enter();
    try {
      event = CompletableFuture.supplyAsync(this::next);
      write(asked.peer, REPLY + "1002000400040004");
      ForeignPeer.driveUntil(fabric(), pair, QueuePairState.RTS);
      pair.fail();
    } finally {
      fabric().leave();
    }

    assertThat(event.get(TIMEOUT, TimeUnit.MILLISECONDS).type())
        .isEqualTo(ConnectionEvent.Type.CONNECT_ERROR);
    assertThat(isClosed(asked.peer)).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void endsAtThePassiveEndThatHasLostItsQueuePair(Loss loss) throws Exception {
    Socket peer = asking(listen(), REQUEST);
    ConnectionIdentifier passive = requested();

    loss.happen(pair(passive));
    passive.accept(ConnectionParameters.defaults());

    assertRejected(peer);
  }

  @Test
  void endsAtThePassiveEndWhoseQueuePairFailsAsItAccepts() throws Exception {
    Socket peer = asking(listen(), REQUEST);
    ConnectionIdentifier passive = requested();
    EmulatedQueuePair pair = pair(passive);
    CompletableFuture<Void> accepted;

    fabric().enter();
    try {
      accepted = CompletableFuture.runAsync(() -> passive.accept(ConnectionParameters.defaults()));
      await().atMost(Caller.LIMIT).until(() -> pair.state() == QueuePairState.RTR);
      pair.fail();
    } finally {
      fabric().leave();
    }

    accepted.get(TIMEOUT, TimeUnit.MILLISECONDS);
    assertRejected(peer);
  }

  /** The accept waits for the fabric while it holds the stream, and must then reject the peer. */
  @Test
  void endsAtThePassiveEndThatAcceptsWhileAnotherThreadModifiesTheQueuePair() throws Exception {
    Socket peer = asking(listen(), REQUEST);
    ConnectionIdentifier passive = requested();
    EmulatedQueuePair pair = pair(passive);
    Thread accepts = new Thread(() -> passive.accept(ConnectionParameters.defaults()));

    fabric().enter();
    try {
      new Thread(() -> Loss.MODIFIED.happen(pair)).start();
      await().atMost(Caller.LIMIT).until(() -> pair.state() == QueuePairState.ERR);
      accepts.start();
      await().atMost(Caller.LIMIT).until(() -> accepts.getState() == Thread.State.WAITING);
    } finally {
      fabric().leave();
    }

    assertRejected(peer);
  }

  /** The reply has been sent, and the peer's first message is still missing. */
  @ParameterizedTest
  @EnumSource
  void endsAtThePassiveEndThatLosesItsQueuePairOnceItHasAccepted(Loss loss) throws Exception {
    Socket peer = asking(listen(), REQUEST_FOR_AN_EMPTY_MESSAGE);
    ConnectionIdentifier passive = requested();
    passive.accept(ConnectionParameters.defaults());
    assertThat(read(peer, 24)).startsWith(REPLY + "1002");

    loss.happen(pair(passive));

    assertThat(isClosed(peer)).isTrue();
    assertEndedBy(ConnectionEvent.Type.CONNECT_ERROR);
  }

  @Test
  void endsWhenThePassiveEndIsClosedThatHasAccepted() throws Exception {
    Socket peer = asking(listen(), REQUEST_FOR_AN_EMPTY_MESSAGE);
    ConnectionIdentifier passive = requested();
    passive.accept(ConnectionParameters.defaults());
    assertThat(read(peer, 24)).startsWith(REPLY + "1002");

    passive.close();
    passive.close();

    assertThat(isClosed(peer)).isTrue();
  }

  /** The peer announces no first message and never sends one. */
  @Test
  void flushesWhatWaitsForThePeersFirstMessageWhenThePassiveEndIsClosed() throws Exception {
    Socket peer = asking(listen(), REQUEST);
    ConnectionIdentifier passive = requested();
    passive.accept(ConnectionParameters.defaults());
    caller.expect(ConnectionEvent.Type.ESTABLISHED);
    pair(passive).postSend(new SendWorkRequest(1).id(1).send().signaled());

    passive.close();

    assertThat(caller.next().status()).isEqualTo(CompletionStatus.WR_FLUSH_ERR);
    assertThat(read(peer, 24)).startsWith(REPLY);
    assertThat(isClosed(peer)).isTrue();
  }

  @Test
  void endsWhenTheActiveEndIsClosedThatAsks() throws Exception {
    Asked asked = ask();

    asked.active.close();
    asked.active.close();

    assertThat(isClosed(asked.peer)).isTrue();
  }

  @Test
  void endsInTimeAtTheActiveEndWhosePeerIsSilent() throws Exception {
    Asked asked = ask(TimeUnit.MILLISECONDS.toNanos(100));

    assertEndedBy(ConnectionEvent.Type.UNREACHABLE);
    assertThat(read(asked.peer, 24)).startsWith(hex("MPA ID Req Frame"));
    assertThat(isClosed(asked.peer)).isTrue();
  }

  @Test
  void endsInTimeAtThePassiveEndWhosePeerIsSilent() throws Exception {
    Socket peer = asking(listen(), REQUEST.substring(0, 20));

    assertThat(isClosed(peer)).isTrue();
  }

  /** The peers: a silent one, one whose request nobody took, and one beyond the backlog. */
  @Test
  void endsWhenTheListenerIsClosed() throws Exception {
    // A stream of another test may still be closing; the next wait would count it.
    await().atMost(Caller.LIMIT).until(() -> !fabric().sockets().hasStreams());
    ConnectionListener listener = listen();
    Socket untaken = asking(listener, REQUEST);
    await().atMost(Caller.LIMIT).until(() -> fabric().sockets().hasStreams() && halfOpen() == 0);
    Socket held = asking(listener, "");
    Socket silent = asking(listener, "");
    write(held, REQUEST);
    await().atMost(Caller.LIMIT).until(() -> halfOpen() == 2);

    listener.close();
    listener.close();
    write(silent, REQUEST);

    for (Socket peer : new Socket[] {silent, untaken, held}) {
      assertThat(read(peer, 24)).isEqualTo(REJECTION);
      assertThat(isClosed(peer)).isTrue();
    }
  }

  private static EmulatedQueuePair pair(ConnectionIdentifier identifier) {
    return (EmulatedQueuePair) Objects.requireNonNull(identifier.queuePair());
  }

  private IwarpFabric fabric() {
    return (IwarpFabric) ((EmulatedDevice) caller.device).fabric();
  }

  private int halfOpen() {
    fabric().enter();
    try {
      return fabric().sockets().halfOpen();
    } finally {
      fabric().leave();
    }
  }

  private ConnectionEvent next() {
    try {
      return Objects.requireNonNull(caller.manager.await(Caller.LIMIT.toNanos()), "event");
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void assertEndedBy(ConnectionEvent.Type type) throws InterruptedException {
    assertThat(caller.expect(type).status()).isNegative();
  }

  private void assertRejected(Socket peer) throws Exception {
    assertEndedBy(ConnectionEvent.Type.CONNECT_ERROR);
    assertThat(read(peer, 24)).isEqualTo(REJECTION);
    assertThat(isClosed(peer)).isTrue();
  }
}
