// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.AcceptDecision;
import io.verbena.ConnectRequest;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.RemoteMemory;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import java.net.URI;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Plays one misuse, on a connection of its own. */
final class Scene {
  private static final AtomicLong NAMES = new AtomicLong();
  private static final int IN_TRAFFIC = 32;
  private static final int SHORT = 64;
  private static final int LONG = 20_000;

  private final Misuse misuse;
  private final Room room;
  private final Queue<Watch> watches = new ConcurrentLinkedQueue<>();
  private final Queue<ByteBuf> messages = new ConcurrentLinkedQueue<>();
  private final Sinks.Empty<Void> trafficEnd = Sinks.empty();
  private final Culprit culprit;

  /** Subscribes to an operation whose publisher or handler misbehaves. */
  private final Watch result = new Watch("the result");

  private final Watch outcome;
  private @Nullable RdmaServer ownServer;
  private @Nullable ByteBuf into;
  private volatile @Nullable RdmaConnection guilty;
  private volatile @Nullable RdmaConnection peer;
  private volatile boolean reached;
  private volatile boolean subscribed;

  Scene(Misuse misuse, Room room) {
    this.misuse = misuse;
    this.room = room;
    culprit = new Culprit(misuse, this);
    outcome = misuse.operation().isPublishing() ? result : culprit;
  }

  // ---- what the culprit uses

  /** Notes that the callback was called. */
  void reached() {
    reached = true;
  }

  /** Notes that the user's publisher was subscribed to. */
  void subscribed() {
    subscribed = true;
  }

  /** Returns the connection of the culprit. */
  RdmaConnection guilty() {
    RdmaConnection connection = guilty;
    if (connection == null) {
      throw new AssertionError("no connection yet");
    }
    return connection;
  }

  void guilty(RdmaConnection connection) {
    guilty = connection;
    watch("onClose of the culprit's connection", connection.onClose());
  }

  void cancel(@Nullable Subscription subscription) {
    Subscription own = subscription == null ? outcome.subscription() : subscription;
    if (own != null) {
      outcome.letGo();
      own.cancel();
    }
  }

  void disposeTransport() {
    (misuse.operation().isOfAccepting() || misuse.operation().isOfServer()
            ? room.ends.serverSide()
            : room.ends.clientSide())
        .dispose();
  }

  RemoteMemory peersMemory() {
    return misuse.operation() == Operation.HANDLER ? room.clientMemory : room.serverMemory;
  }

  /** Subscribes correctly; {@code operation} must have ended when the scene is over. */
  void watch(String what, Publisher<?> operation) {
    Watch watch = new Watch(what);
    watches.add(watch);
    operation.subscribe(watch);
  }

  /** Returns a short or a long message, which the caller releases. */
  ByteBuf message(int number) {
    ByteBuf message =
        switch (number % 3) {
          case 0 -> Unpooled.buffer(SHORT).writeZero(SHORT);
          case 1 -> Unpooled.directBuffer(LONG).writeZero(LONG);
          default -> Unpooled.directBuffer(SHORT * 10).writeZero(SHORT * 10);
        };
    messages.add(message);
    return message;
  }

  Flux<ByteBuf> messages(int count) {
    return Flux.range(0, count).map(this::message);
  }

  private Flux<ByteBuf> traffic() {
    Flux<ByteBuf> some =
        Flux.range(0, IN_TRAFFIC).map(i -> Unpooled.buffer(Integer.BYTES).writeInt(i));
    return some.concatWith(Mono.never()).takeUntilOther(trafficEnd.asMono());
  }

  // ---- the course of events

  void play() throws InterruptedException {
    room.echo();
    switch (misuse.operation()) {
      case CONNECT -> connect();
      case BIND -> bind();
      case SERVER_ON_CLOSE -> closeServer();
      case HANDLER -> accept();
      case ACCEPT_HOOK -> admit();
      default -> operate();
    }
    if (misuse.isCertain()) {
      Room.await("the callback is called", () -> reached);
    } else {
      Room.await("the callback is called, or the operation ends", () -> reached || isOver());
    }
  }

  private boolean isOver() {
    RdmaConnection connection = peer;
    return misuse.operation().isOfAccepting()
        ? connection == null || connection.isDisposed()
        : outcome.isEnded();
  }

  /** Ends the connections of the scene, and checks that each operation has ended. */
  void end() {
    if (misuse.operation() == Operation.CONNECT) {
      // Even if the callback was called before there was a connection.
      Room.await(culprit, culprit::isEnded);
    }
    RdmaConnection connection = guilty;
    if (connection != null) {
      if (misuse.refusesAConnection()) {
        Room.await("the end of a connection that nobody took", connection::isDisposed);
      }
      watch("close of the culprit's connection", connection.close());
      connection.dispose();
    }
    RdmaConnection other = peer;
    if (other != null) {
      watch("onClose of the peer", other.onClose());
      other.dispose();
    }
    RdmaServer server = ownServer;
    if (server != null) {
      Room.await("the end of its connections", () -> server.connectionCount() == 0);
      server.dispose();
    }
    if (!misuse.operation().isOfAccepting()) {
      watches.add(outcome);
    }
    for (Watch each : watches) {
      Room.await(each, each::isEnded);
      each.assertRight();
    }
    ByteBuf lent = into;
    if (lent != null) {
      lent.release();
    }
    for (ByteBuf each : messages) {
      Room.await("the release of a message", () -> each.refCnt() == 0);
    }
  }

  /** Starts an operation of a connection. */
  private void operate() {
    Ends.Pair pair = room.ends.connect();
    RdmaConnection other = pair.server();
    guilty(pair.client());
    peer = other;
    boolean receives = misuse.operation() == Operation.RECEIVE;
    watch("receive of the peer", other.receive());
    watch("immediates of the peer", other.immediates());
    if (misuse.moment() == Moment.TRAFFIC) {
      watch("traffic to the peer", pair.client().send(traffic()));
      watch("traffic of the peer", other.send(traffic()));
      if (!receives) {
        watch("receive of the culprit", pair.client().receive());
      }
    }
    if (!misuse.isGraceful()) {
      watch("a send that waits", pair.client().send(Flux.never()));
    }
    sendToCulprit(other, 2);
    if (misuse.signal() == Signal.ON_ERROR) {
      disturb(other);
      begin(operation(pair.client()));
      provoke(other);
    } else {
      begin(operation(pair.client()));
      provoke(other);
      disturb(other);
    }
  }

  private void sendToCulprit(RdmaConnection other, int count) {
    if (misuse.operation() == Operation.RECEIVE) {
      watch("messages of the peer", other.send(messages(count)));
    } else if (misuse.operation() == Operation.IMMEDIATES) {
      for (int i = 0; i < count; i++) {
        RemoteMemory to = room.clientMemory.slice(0, SHORT);
        watch("a notice of the peer", other.writeWithImmediate(message(0), to, i));
      }
    }
  }

  private Publisher<?> operation(RdmaConnection connection) {
    RemoteMemory memory = misuse.signal() == Signal.ON_ERROR ? room.deadMemory : room.serverMemory;
    return switch (misuse.operation()) {
      case RECEIVE -> connection.receive();
      case IMMEDIATES -> connection.immediates();
      case SEND -> connection.send(misuse.signal() == Signal.ON_ERROR ? Flux.never() : messages(3));
      case SOURCE -> connection.send(Supplies.messages(misuse, this));
      case READ -> connection.read(memory.slice(0, SHORT));
      case READ_INTO -> readInto(connection, memory);
      case PIECES -> connection.readPieces(memory, (int) memory.length() / 5);
      case WRITE -> connection.write(message(0), memory.slice(0, SHORT));
      case NOTICE -> connection.writeWithImmediate(message(2), memory, 1);
      case ATOMIC -> connection.fetchAndAdd(memory.slice(0, Long.BYTES), 1);
      case CLOSE -> connection.close();
      case ON_CLOSE -> connection.onClose();
      case ON_PEER_CLOSING -> connection.onPeerClosing();
      case CONNECT, HANDLER, ACCEPT_HOOK, BIND, SERVER_ON_CLOSE -> throw new AssertionError(misuse);
    };
  }

  private Mono<Void> readInto(RdmaConnection connection, RemoteMemory from) {
    ByteBuf lent = Unpooled.directBuffer(SHORT);
    into = lent;
    messages.add(lent);
    return connection.read(from.slice(0, SHORT), lent);
  }

  private void begin(Publisher<?> operation) {
    if (misuse.moment() == Moment.WITHIN) {
      room.onLoop(() -> subscribe(operation));
    } else {
      subscribe(operation);
    }
  }

  private void subscribe(Publisher<?> operation) {
    // A callback of the previous scene may have interrupted this loop in the same turn.
    Thread.interrupted();
    try {
      operation.subscribe(outcome);
    } catch (Throwable thrown) {
      if (misuse.signal() != Signal.ON_SUBSCRIBE && misuse.operation() != Operation.BIND) {
        outcome.wrong("it came out of subscribe: " + thrown);
      }
    }
    if (Thread.interrupted() && misuse.misdeed() != Misdeed.INTERRUPTS) {
      outcome.wrong("this thread was interrupted");
    }
  }

  /** Causes a call of the callback. */
  private void provoke(RdmaConnection other) {
    sendToCulprit(other, 1);
    switch (misuse.signal()) {
      case ON_ERROR -> {
        if (!misuse.operation().isOneSided()) {
          other.dispose();
        }
      }
      case ON_COMPLETE -> {
        if (misuse.operation().lastsAsTheConnection()) {
          trafficEnd.tryEmitEmpty();
          watch("close of the peer", other.close());
        }
      }
      case CANCEL -> {
        Room.await("the subscription", () -> subscribed);
        other.dispose();
      }
      default -> {
        // The callback is called anyway.
      }
    }
  }

  private void disturb(RdmaConnection other) {
    if (misuse.moment() == Moment.CLOSING) {
      trafficEnd.tryEmitEmpty();
      watch("close", guilty().close());
    } else if (misuse.moment() == Moment.DYING) {
      other.dispose();
    }
  }

  private void connect() {
    URI address = Addresses.of("nobody");
    if (misuse.signal() != Signal.ON_ERROR) {
      address = Addresses.reach(bind(this::serve).address());
    }
    begin(room.ends.clientSide().connect(address));
  }

  private void bind() {
    URI address = Addresses.of("misuse-" + NAMES.incrementAndGet());
    if (misuse.signal() == Signal.ON_ERROR) {
      address = bind(connection -> Mono.never()).address();
    }
    begin(serverSide().bind(address, connection -> Mono.never()));
  }

  /** Notes the server that the culprit has bound. */
  void bound(RdmaServer server) {
    ownServer = server;
    watch("onClose of the culprit's server", server.onClose());
  }

  private void closeServer() {
    RdmaServer server = bind(connection -> Mono.never());
    begin(server.onClose());
    server.dispose();
    // The callback was called in this thread.
    if (Thread.interrupted() && misuse.misdeed() != Misdeed.INTERRUPTS) {
      outcome.wrong("this thread was interrupted");
    }
  }

  private RdmaTransport serverSide() {
    return room.ends.serverSide();
  }

  private Publisher<Void> serve(RdmaConnection connection) {
    peer = connection;
    return switch (misuse.moment()) {
      case CONNECTED, WITHIN -> Mono.never();
      case TRAFFIC -> connection.send(traffic());
      case CLOSING -> Mono.empty();
      case DYING -> Mono.error(new IllegalStateException("dying"));
    };
  }

  private RdmaServer bind(Function<RdmaConnection, Publisher<Void>> handler) {
    URI address = Addresses.of("misuse-" + NAMES.incrementAndGet());
    RdmaServer server = serverSide().bind(address, handler).blockOptional(Ends.LIMIT).orElseThrow();
    ownServer = server;
    watch("onClose of the server", server.onClose());
    return server;
  }

  private void accept() {
    RdmaServer server = bind(this::handle);
    RdmaConnection client =
        room.ends
            .clientSide()
            .connect(Addresses.reach(server.address()))
            .onErrorComplete(RdmaException.class)
            .block(Ends.LIMIT);
    peer = client;
    if (client == null) {
      return;
    }
    if (misuse.moment() == Moment.TRAFFIC) {
      watch("traffic to the culprit", client.send(traffic()));
      watch("receive from the culprit", client.receive());
    }
    if (misuse.signal() == Signal.CANCEL && misuse.isCertain()) {
      Room.await("the subscription", () -> subscribed);
      client.dispose();
    }
    if (misuse.moment() == Moment.CLOSING) {
      watch("close of the client", client.close());
    } else if (misuse.moment() == Moment.DYING) {
      client.dispose();
    }
  }

  private void admit() {
    URI address = Addresses.of("misuse-" + NAMES.incrementAndGet());
    RdmaServer server =
        serverSide()
            .bind(address, this::decide, connection -> Mono.never())
            .blockOptional(Ends.LIMIT)
            .orElseThrow();
    ownServer = server;
    Mono<RdmaConnection> connect =
        room.ends.clientSide().connect(Addresses.reach(server.address()));
    if (misuse.moment() == Moment.DYING) {
      connect.doOnNext(RdmaConnection::dispose).subscribe(taken -> {}, refused -> {}).dispose();
    } else {
      peer = connect.onErrorComplete(RdmaException.class).block(Ends.LIMIT);
    }
  }

  private Mono<AcceptDecision> decide(ConnectRequest request) {
    if (misuse.signal() == Signal.APPLY) {
      reached();
      misuse.misdeed().commit(this, null);
    }
    return Mono.fromDirect(Supplies.decisions(misuse, this));
  }

  private Publisher<Void> handle(RdmaConnection connection) {
    guilty(connection);
    if (misuse.signal() == Signal.APPLY) {
      reached();
      misuse.misdeed().commit(this, null);
    }
    return Supplies.nothing(misuse, this);
  }
}
