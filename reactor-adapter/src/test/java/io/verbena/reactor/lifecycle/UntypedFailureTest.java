// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.Fault;
import io.verbena.reactor.testing.hca.LimitedProvider;
import java.net.URI;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/**
 * Tests connects and accepts in which the provider throws something unexpected: they fail at once,
 * not at the deadline, which is far away here, and release everything.
 */
class UntypedFailureTest {
  private static final AtomicLong NAMES = new AtomicLong();

  private final URI name = Addresses.of("untyped-" + NAMES.incrementAndGet());
  private final RdmaTransport serverSide = transport();
  private final RdmaTransport clientSide = transport();

  private static RdmaTransport transport() {
    return RdmaTransport.create(
        Ends.options().loops(1).connectTimeout(Ends.LIMIT.multipliedBy(10)).build());
  }

  /** Fails if a queue pair or any other object of a device is still open. */
  @AfterEach
  void dispose() {
    clientSide.dispose();
    serverSide.dispose();
  }

  private static Stream<Arguments> places(Fault.Place own, Fault.Place... places) {
    return Stream.concat(Stream.of(places), Stream.of(own))
        .flatMap(place -> Stream.of(Fault.Kind.values()).map(kind -> Arguments.of(place, kind)));
  }

  static Stream<Arguments> ofConnect() {
    return Stream.concat(places(Fault.Place.RESOLVE), places(Fault.Place.CONNECT, common()));
  }

  static Stream<Arguments> ofAccept() {
    return places(Fault.Place.ACCEPT, common());
  }

  private static Fault.Place[] common() {
    return new Fault.Place[] {
      Fault.Place.CREATE_COMPLETION_QUEUE,
      Fault.Place.CREATE_QUEUE_PAIR,
      Fault.Place.PEER,
      Fault.Place.POST_RECEIVE
    };
  }

  @ParameterizedTest
  @MethodSource("ofConnect")
  void failsAConnectAtOnceWithTheCause(Fault.Place place, Fault.Kind kind) {
    RdmaServer server = serverSide.bind(name, connection -> Mono.never()).block(Ends.LIMIT);
    URI faulty = LimitedProvider.faulty(server.address(), place, kind);

    assertThatThrownBy(() -> clientSide.connect(faulty).block(Ends.LIMIT))
        .isInstanceOf(RdmaException.class)
        .rootCause()
        .hasMessage(Fault.MESSAGE);

    assertWorks(clientSide.connect(faulty).block(Ends.LIMIT));
  }

  @ParameterizedTest
  @MethodSource("ofAccept")
  void rejectsAConnectionAtOnce(Fault.Place place, Fault.Kind kind) {
    RdmaServer server =
        serverSide
            .bind(
                LimitedProvider.faulty(name, place, kind),
                connection -> connection.send(connection.receive()))
            .block(Ends.LIMIT);
    URI address = Addresses.plain(server.address());

    assertThatThrownBy(() -> clientSide.connect(address).block(Ends.LIMIT))
        .isInstanceOf(RdmaConnectException.class)
        .hasMessageContaining("no resources left");
    assertThat(server.connectionCount()).isZero();

    RdmaConnection next = clientSide.connect(address).block(Ends.LIMIT);
    assertWorks(next);
    assertThat(
            next.send(Mono.fromSupplier(() -> Ends.message(next, 8, 1)))
                .then(next.receive().next().map(Ends::take))
                .block(Ends.LIMIT))
        .isEqualTo(Ends.bytes(8, 1));
  }

  private static void assertWorks(RdmaConnection connection) {
    connection.send(Mono.fromSupplier(() -> Ends.message(connection, 8, 1))).block(Ends.LIMIT);
  }
}
