// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.verbena.ConnectionClosedException;
import io.verbena.HcaException;
import io.verbena.PeerUnreachableException;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaMemory;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.RemoteMemory.Right;
import io.verbena.core.testing.Addresses;
import io.verbena.emulated.DeviceFault;
import io.verbena.reactor.testing.Ends;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests that a failing device ends everything on it, with an error that names the failure. */
class DeviceFailureTest {
  private static final AtomicLong NAMES = new AtomicLong();

  private final String name = "failure-" + NAMES.incrementAndGet();
  private final RdmaTransport serverSide = RdmaTransport.create(Ends.options().build());
  private final RdmaTransport clientSide = RdmaTransport.create(Ends.options().build());
  private final LinkedBlockingQueue<RdmaConnection> accepted = new LinkedBlockingQueue<>();

  @BeforeEach
  void needAFuse() {
    assumeTrue(Addresses.areEmulated(), "no other device can be broken here");
  }

  /** Releases everything, and fails if an object of a device is still open. */
  @AfterEach
  void dispose() {
    clientSide.dispose();
    serverSide.dispose();
  }

  private URI address(String fuse) {
    String plain = Addresses.of(name).toString();
    return URI.create(plain + (plain.contains("?") ? "&" : "?") + "fuse=" + fuse);
  }

  private RdmaServer bind() {
    RdmaServer server =
        serverSide
            .bind(
                address(name + "-server"),
                connection -> {
                  accepted.add(connection);
                  return Mono.never();
                })
            .block(Ends.LIMIT);
    assertThat(server).isNotNull();
    return server;
  }

  private Ends.Pair connect() throws InterruptedException {
    RdmaConnection client = clientSide.connect(address(name + "-client")).block(Ends.LIMIT);
    RdmaConnection server = accepted.poll(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
    assertThat(client).isNotNull();
    assertThat(server).isNotNull();
    return new Ends.Pair(client, server);
  }

  private static void failsTyped(CompletableFuture<?> pending) {
    assertThat(pending)
        .failsWithin(Ends.LIMIT)
        .withThrowableThat()
        .havingCause()
        .isInstanceOfAny(ConnectionClosedException.class, HcaException.class);
  }

  @Test
  void endsAllThatIsPendingOnIt() throws Exception {
    RdmaServer server = bind();
    Ends.Pair pair = connect();
    RdmaMemory.Region region =
        pair.server().memory().register(ByteBuffer.allocateDirect(64), Set.of(Right.READ));
    // The other end requests no messages, and these are more than it has room for.
    CompletableFuture<Void> sent =
        pair.client()
            .send(Flux.range(0, 100_000).map(n -> Ends.message(pair.client(), 100, n)))
            .toFuture();
    CompletableFuture<Long> received =
        pair.client().receive().doOnNext(ByteBuf::release).count().toFuture();
    CompletableFuture<Void> closed = pair.client().onClose().toFuture();

    assertThat(DeviceFault.inject(name + "-client")).isEqualTo(1);

    failsTyped(sent);
    failsTyped(received);
    failsTyped(closed);
    assertThatThrownBy(() -> pair.client().read(region.token()).block(Ends.LIMIT))
        .isInstanceOf(RdmaException.class);
    assertThat(server.isDisposed()).isFalse();
    region.close();
  }

  @Test
  void letsThePeerFindOutByItsNextRequest() throws Exception {
    bind();
    Ends.Pair pair = connect();
    RdmaMemory.Region region =
        pair.server().memory().register(ByteBuffer.allocateDirect(64), Set.of(Right.READ));

    DeviceFault.inject(name + "-server");

    assertThatThrownBy(() -> pair.client().read(region.token()).block(Ends.LIMIT))
        // The second exception comes if the client sent a frame with credits before the read.
        .isInstanceOfAny(PeerUnreachableException.class, ConnectionClosedException.class);
    region.close();
  }

  @Test
  void endsAServerWithAnErrorWhetherOrNotItHasConnections() {
    RdmaServer server = bind();
    CompletableFuture<Void> closed = server.onClose().toFuture();

    DeviceFault.inject(name + "-server");

    assertThat(closed)
        .failsWithin(Ends.LIMIT)
        .withThrowableThat()
        .withCauseInstanceOf(HcaException.class)
        .withMessageContaining("has failed");
    assertThat(server.isDisposed()).isTrue();
    assertThatThrownBy(() -> clientSide.connect(address(name + "-client")).block(Ends.LIMIT))
        .isInstanceOf(RdmaException.class);
  }

  @Test
  void isOpenedAgainByTheNextConnection() throws Exception {
    bind();
    Ends.Pair failed = connect();
    DeviceFault.inject(name + "-client");
    assertThat(failed.client().onClose().toFuture()).failsWithin(Ends.LIMIT);

    awaitConnect();

    Ends.Pair again = connect();
    RdmaMemory.Region region =
        again.server().memory().register(ByteBuffer.allocateDirect(64), Set.of(Right.READ));
    ByteBuf read = again.client().read(region.token()).block(Ends.LIMIT);
    assertThat(read).isNotNull().matches(ByteBuf::release);
    region.close();
  }

  /**
   * Connects until the transport has noticed that the device failed; before that, connects fail.
   */
  private void awaitConnect() {
    await()
        .atMost(Ends.LIMIT)
        .ignoreExceptionsInstanceOf(RdmaConnectException.class)
        .until(
            () -> {
              connect();
              return true;
            });
  }

  @Test
  void isOpenedAgainAlsoWhileARegionOfTheFailedOneIsOpen() throws Exception {
    bind();
    RdmaMemory.Region region =
        connect().client().memory().register(ByteBuffer.allocateDirect(64), Set.of(Right.READ));
    DeviceFault.inject(name + "-client");

    for (int i = 0; i < 2; i++) {
      awaitConnect();
      DeviceFault.inject(name + "-client");
    }

    region.close();
  }
}
