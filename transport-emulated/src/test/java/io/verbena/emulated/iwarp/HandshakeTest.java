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
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What becomes of a connection whose queue pair is lost while it is made: its socket is closed, the
 * peer is told, and the program is told once.
 */
@Tag("once")
class HandshakeTest {
  private static final String REJECTION = REPLY + "3002000400000000";
  private static final String REQUEST_FOR_AN_EMPTY_MESSAGE =
      hex("MPA ID Req Frame") + "1002000480048004";

  /** How a queue pair is lost. */
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

  @ParameterizedTest
  @EnumSource
  void endsAtTheActiveEndThatHasLostItsQueuePair(Loss loss) throws Exception {
    try (Caller caller = new Caller(ANY);
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName(Loopbacks.ADDRESS))) {
      ConnectionIdentifier active = connectTo(server, caller);
      try (Socket peer = server.accept()) {
        peer.setSoTimeout(TIMEOUT);
        assertThat(read(peer, 24)).startsWith(hex("MPA ID Req Frame"));

        loss.happen(pair(active));
        write(peer, REPLY + "1002000400040004");

        assertEndedBy(ConnectionEvent.Type.CONNECT_ERROR, caller);
        assertThat(isClosed(peer)).isTrue();
      }
      assertNothingIsLeft(caller);
    }
  }

  /** It fails when its state has changed, and before it has the stream. */
  @Test
  void endsAtTheActiveEndWhoseQueuePairFailsAsItConnects() throws Exception {
    try (Caller caller = new Caller(ANY);
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName(Loopbacks.ADDRESS))) {
      ConnectionIdentifier active = connectTo(server, caller);
      EmulatedQueuePair pair = pair(active);
      try (Socket peer = server.accept()) {
        peer.setSoTimeout(TIMEOUT);
        assertThat(read(peer, 24)).startsWith(hex("MPA ID Req Frame"));
        IwarpFabric fabric = fabric(caller);
        CompletableFuture<ConnectionEvent> event;

        fabric.enter();
        try {
          event = CompletableFuture.supplyAsync(() -> next(caller));
          write(peer, REPLY + "1002000400040004");
          ForeignPeer.driveUntil(fabric, pair, QueuePairState.RTS);
          pair.fail();
        } finally {
          fabric.leave();
        }

        assertThat(event.get(TIMEOUT, TimeUnit.MILLISECONDS).type())
            .isEqualTo(ConnectionEvent.Type.CONNECT_ERROR);
        assertThat(isClosed(peer)).isTrue();
      }
      assertNothingIsLeft(caller);
    }
  }

  @ParameterizedTest
  @EnumSource
  void endsAtThePassiveEndThatHasLostItsQueuePair(Loss loss) throws Exception {
    try (Caller caller = new Caller(ANY);
        ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ANY, 1)) {
      try (Socket peer = connect(listener)) {
        write(peer, REQUEST);
        ConnectionIdentifier passive = requested(caller);

        loss.happen(pair(passive));
        passive.accept(ConnectionParameters.defaults());

        assertEndedBy(ConnectionEvent.Type.CONNECT_ERROR, caller);
        assertThat(read(peer, 24)).isEqualTo(REJECTION);
        assertThat(isClosed(peer)).isTrue();
      }
      assertNothingIsLeft(caller);
    }
  }

  @Test
  void endsAtThePassiveEndWhoseQueuePairFailsAsItAccepts() throws Exception {
    try (Caller caller = new Caller(ANY);
        ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ANY, 1)) {
      try (Socket peer = connect(listener)) {
        write(peer, REQUEST);
        ConnectionIdentifier passive = requested(caller);
        EmulatedQueuePair pair = pair(passive);
        IwarpFabric fabric = fabric(caller);
        CompletableFuture<Void> accepted;

        fabric.enter();
        try {
          accepted =
              CompletableFuture.runAsync(() -> passive.accept(ConnectionParameters.defaults()));
          await().atMost(Caller.LIMIT).until(() -> pair.state() == QueuePairState.RTR);
          pair.fail();
        } finally {
          fabric.leave();
        }

        accepted.get(TIMEOUT, TimeUnit.MILLISECONDS);
        assertEndedBy(ConnectionEvent.Type.CONNECT_ERROR, caller);
        assertThat(read(peer, 24)).isEqualTo(REJECTION);
        assertThat(isClosed(peer)).isTrue();
      }
      assertNothingIsLeft(caller);
    }
  }

  /** The accept waits behind that, with the stream in its hands: it is to refuse the peer. */
  @Test
  void endsAtThePassiveEndThatAcceptsWhileAnotherThreadModifiesTheQueuePair() throws Exception {
    try (Caller caller = new Caller(ANY);
        ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ANY, 1)) {
      try (Socket peer = connect(listener)) {
        write(peer, REQUEST);
        ConnectionIdentifier passive = requested(caller);
        EmulatedQueuePair pair = pair(passive);
        Thread accepts = new Thread(() -> passive.accept(ConnectionParameters.defaults()));
        IwarpFabric fabric = fabric(caller);

        fabric.enter();
        try {
          new Thread(() -> Loss.MODIFIED.happen(pair)).start();
          await().atMost(Caller.LIMIT).until(() -> pair.state() == QueuePairState.ERR);
          accepts.start();
          await().atMost(Caller.LIMIT).until(() -> accepts.getState() == Thread.State.WAITING);
        } finally {
          fabric.leave();
        }

        assertEndedBy(ConnectionEvent.Type.CONNECT_ERROR, caller);
        assertThat(read(peer, 24)).isEqualTo(REJECTION);
        assertThat(isClosed(peer)).isTrue();
      }
      assertNothingIsLeft(caller);
    }
  }

  /** The reply has gone, and the peer's first message may come. */
  @ParameterizedTest
  @EnumSource
  void endsAtThePassiveEndThatLosesItsQueuePairOnceItHasAccepted(Loss loss) throws Exception {
    try (Caller caller = new Caller(ANY);
        ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ANY, 1)) {
      try (Socket peer = connect(listener)) {
        write(peer, REQUEST_FOR_AN_EMPTY_MESSAGE);
        ConnectionIdentifier passive = requested(caller);
        passive.accept(ConnectionParameters.defaults());
        assertThat(read(peer, 24)).startsWith(REPLY + "1002");

        loss.happen(pair(passive));

        assertThat(isClosed(peer)).isTrue();
        assertEndedBy(ConnectionEvent.Type.CONNECT_ERROR, caller);
      }
      assertNothingIsLeft(caller);
    }
  }

  @Test
  void endsWhenThePassiveEndIsClosedThatHasAccepted() throws Exception {
    try (Caller caller = new Caller(ANY);
        ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ANY, 1)) {
      try (Socket peer = connect(listener)) {
        write(peer, REQUEST_FOR_AN_EMPTY_MESSAGE);
        ConnectionIdentifier passive = requested(caller);
        passive.accept(ConnectionParameters.defaults());
        assertThat(read(peer, 24)).startsWith(REPLY + "1002");

        passive.close();
        passive.close();

        assertThat(isClosed(peer)).isTrue();
      }
      assertNothingIsLeft(caller);
    }
  }

  @Test
  void endsWhenTheActiveEndIsClosedThatAsks() throws Exception {
    try (Caller caller = new Caller(ANY);
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName(Loopbacks.ADDRESS))) {
      ConnectionIdentifier active = connectTo(server, caller);
      try (Socket peer = server.accept()) {
        peer.setSoTimeout(TIMEOUT);
        assertThat(read(peer, 24)).startsWith(hex("MPA ID Req Frame"));

        active.close();
        active.close();

        assertThat(isClosed(peer)).isTrue();
      }
      assertNothingIsLeft(caller);
    }
  }

  @Test
  void endsInTimeAtTheActiveEndWhosePeerIsSilent() throws Exception {
    try (Caller caller = new Caller(ANY);
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName(Loopbacks.ADDRESS))) {
      ConnectionIdentifier active = resolve(server, caller);
      active.connect(ConnectionParameters.defaults(), TimeUnit.MILLISECONDS.toNanos(100));
      try (Socket peer = server.accept()) {
        peer.setSoTimeout(TIMEOUT);

        assertEndedBy(ConnectionEvent.Type.UNREACHABLE, caller);
        assertThat(read(peer, 24)).startsWith(hex("MPA ID Req Frame"));
        assertThat(isClosed(peer)).isTrue();
      }
      assertNothingIsLeft(caller);
    }
  }

  @Test
  void endsInTimeAtThePassiveEndWhosePeerIsSilent() throws Exception {
    try (Caller caller = new Caller(ANY);
        ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ANY, 1)) {
      try (Socket peer = connect(listener)) {
        write(peer, REQUEST.substring(0, 20));

        assertThat(isClosed(peer)).isTrue();
      }
      assertNothingIsLeft(caller);
    }
  }

  /** One that has said nothing yet, one that nobody has taken, and one beyond the backlog. */
  @Test
  void endsWhenTheListenerIsClosed() throws Exception {
    try (Caller caller = new Caller(ANY)) {
      ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ANY, 1);
      try (Socket untaken = connect(listener)) {
        write(untaken, REQUEST);
        await().atMost(Caller.LIMIT).until(() -> hasStreams(caller) && halfOpen(caller) == 0);
        try (Socket held = connect(listener);
            Socket silent = connect(listener)) {
          write(held, REQUEST);
          await().atMost(Caller.LIMIT).until(() -> halfOpen(caller) == 2);

          listener.close();
          listener.close();
          write(silent, REQUEST);

          for (Socket peer : new Socket[] {silent, untaken, held}) {
            assertThat(read(peer, 24)).isEqualTo(REJECTION);
            assertThat(isClosed(peer)).isTrue();
          }
        }
      }
      assertNothingIsLeft(caller);
    }
  }

  private static ConnectionIdentifier resolve(ServerSocket server, Caller caller) throws Exception {
    server.setSoTimeout(TIMEOUT);
    return caller.resolve(URI.create("iwarp://" + Loopbacks.ADDRESS + ":" + server.getLocalPort()));
  }

  private static ConnectionIdentifier connectTo(ServerSocket server, Caller caller)
      throws Exception {
    ConnectionIdentifier active = resolve(server, caller);
    active.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
    return active;
  }

  private static ConnectionIdentifier requested(Caller caller) throws InterruptedException {
    ConnectionIdentifier passive = caller.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
    assertThat(caller.queuePair(passive).number()).isPositive();
    return passive;
  }

  private static EmulatedQueuePair pair(ConnectionIdentifier identifier) {
    return (EmulatedQueuePair) Objects.requireNonNull(identifier.queuePair());
  }

  private static IwarpFabric fabric(Caller caller) {
    return (IwarpFabric) ((EmulatedDevice) caller.device).fabric();
  }

  private static boolean hasStreams(Caller caller) {
    return fabric(caller).sockets().hasStreams();
  }

  private static int halfOpen(Caller caller) {
    IwarpFabric fabric = fabric(caller);
    fabric.enter();
    try {
      return fabric.sockets().halfOpen();
    } finally {
      fabric.leave();
    }
  }

  private static ConnectionEvent next(Caller caller) {
    try {
      return Objects.requireNonNull(caller.manager.await(Caller.LIMIT.toNanos()), "event");
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void assertEndedBy(ConnectionEvent.Type type, Caller caller)
      throws InterruptedException {
    assertThat(caller.expect(type).status()).isNegative();
  }

  /** When the last socket is closed, all that the program is to be told is noted. */
  private static void assertNothingIsLeft(Caller caller) throws InterruptedException {
    await().atMost(Caller.LIMIT).until(() -> !hasStreams(caller));
    assertThat(caller.manager.await(0)).isNull();
  }
}
