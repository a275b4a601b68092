// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.VerbsError.ADDRESS_IN_USE;
import static io.verbena.verbs.VerbsError.BUSY;
import static io.verbena.verbs.VerbsError.CLOSED;
import static io.verbena.verbs.VerbsError.INVALID;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Connection managers and listeners: addresses, waiting for events, closing. */
abstract class ConnectionManagerTests extends VerbsTests {
  ConnectionManagerTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void knowsItsDevice() {
    assertThat(manager().device()).isSameAs(tck.device());
  }

  @Test
  void listensOnTheAddressThatWasAsked() {
    URI address = tck.address("listen");

    ConnectionListener listener = tck.own(manager().listen(address, 1));

    assertThat(listener.address().getScheme()).isEqualTo(address.getScheme());
    assertThat(listener.address().getHost()).isEqualTo(address.getHost());
  }

  @Test
  void refusesAnAddressThatIsInUse() {
    ConnectionManager manager = manager();
    URI address = tck.address("listen");
    tck.own(manager.listen(address, 1));

    expectFailure(ADDRESS_IN_USE, () -> tck.own(manager.listen(address, 1)));
  }

  @Test
  void refusesAnAddressThatAnotherManagerUses() {
    URI address = tck.address("listen");
    tck.own(manager().listen(address, 1));
    ConnectionManager other = tck.own(tck.serverDevice().createConnectionManager());

    expectFailure(ADDRESS_IN_USE, () -> tck.own(other.listen(address, 1)));
  }

  @Test
  void takesAnAddressAgainOnceItIsFree() {
    ConnectionManager manager = manager();
    URI address = tck.address("listen");
    tck.own(manager.listen(address, 1)).close();

    assertThat(tck.own(manager.listen(address, 1)).address().getHost())
        .isEqualTo(address.getHost());
  }

  @Test
  void listensOnSeveralAddresses() {
    ConnectionManagerFixture callee = new ConnectionManagerFixture(tck, tck.serverDevice());
    ConnectionManagerFixture caller = new ConnectionManagerFixture(tck, tck.device());
    ConnectionListener first = callee.listen(1);
    ConnectionListener second = callee.listen(1);

    EndpointPair one = tck.setup().connect(caller, callee, second);
    EndpointPair two = tck.setup().connect(caller, callee, first);

    assertThat(one.server().queuePair()).isNotSameAs(two.server().queuePair());
  }

  @Test
  void refusesABacklogThatIsOutOfRange() {
    ConnectionManager manager = manager();

    for (int backlog : new int[] {0, -1, Integer.MIN_VALUE}) {
      assertThat(
              expectFailure(
                  INVALID,
                  "a backlog of " + backlog,
                  () -> tck.own(manager.listen(tck.address("listen"), backlog))))
          .hasMessageContaining(Integer.toString(backlog));
    }
  }

  @Test
  void refusesAnAddressOfAnotherScheme() {
    ConnectionManager manager = manager();
    URI foreign = URI.create("no-such-scheme://anywhere:1");

    expectFailure(INVALID, () -> tck.own(manager.listen(foreign, 1)));
    expectFailure(INVALID, () -> tck.own(manager.resolve(foreign, tck.timeout().toNanos())));
  }

  @Test
  void resolvesAnAddressAndTellsIt() {
    ConnectionManagerFixture caller = new ConnectionManagerFixture(tck, tck.device());
    ConnectionManagerFixture callee = new ConnectionManagerFixture(tck, tck.serverDevice());

    ConnectionIdentifier identifier =
        tck.own(caller.manager().resolve(callee.listen(1).address(), tck.timeout().toNanos()));

    ConnectionEvent event = caller.next();
    assertThat(event.type()).isEqualTo(ConnectionEvent.Type.ADDR_RESOLVED);
    assertThat(event.identifier()).isSameAs(identifier);
    assertThat(event.listener()).isNull();
    assertThat(event.status()).isZero();
    assertThat(identifier.manager()).isSameAs(caller.manager());
    assertThat(identifier.queuePair()).isNull();
    assertThat(identifier.peer()).isNotBlank();
  }

  @Test
  void givesUpWaitingWhenTheTimeIsOver() throws InterruptedException {
    Duration time = Duration.ofMillis(20);
    ConnectionManager manager = manager();
    long start = System.nanoTime();

    assertThat(manager.await(time.toNanos())).isNull();

    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(time.toNanos());
    assertThat(manager.await(0)).isNull();
  }

  @Test
  void endsTheWaitWhenItIsClosed() throws Exception {
    ConnectionManager manager = manager();
    CompletableFuture<String> waited = new CompletableFuture<>();
    Thread waiter =
        Parallel.start(() -> waited.complete(String.valueOf(manager.await(Long.MAX_VALUE))));
    Parallel.awaitBlocked(waiter, tck.timeout());

    manager.close();

    assertThat(waited.get(tck.timeout().toNanos(), TimeUnit.NANOSECONDS)).isEqualTo("null");
  }

  @Test
  void letsTheWaitBeInterrupted() {
    ConnectionManager manager = manager();
    Thread.currentThread().interrupt();

    assertThatThrownBy(() -> manager.await(tck.timeout().toNanos()))
        .isInstanceOf(InterruptedException.class);
  }

  @Test
  void isBusyWhileItListens() {
    ConnectionManager manager = manager();
    ConnectionListener listener = tck.own(manager.listen(tck.address("listen"), 1));

    expectFailure(BUSY, manager::close);

    listener.close();
    manager.close();
  }

  @Test
  void isBusyWhileItHasAnIdentifier() {
    ConnectionManagerFixture caller = new ConnectionManagerFixture(tck, tck.device());
    ConnectionIdentifier identifier =
        caller.resolve(new ConnectionManagerFixture(tck, tck.serverDevice()).listen(1).address());

    expectFailure(BUSY, caller.manager()::close);

    identifier.close();
    caller.manager().close();
  }

  @Test
  void mayBeClosedTwice() {
    ConnectionManager manager = manager();
    ConnectionListener listener = tck.own(manager.listen(tck.address("listen"), 1));

    listener.close();
    listener.close();
    manager.close();
    manager.close();
  }

  @Test
  void doesNothingMoreOnceItIsClosed() {
    ConnectionManager manager = manager();
    manager.close();

    expectFailure(CLOSED, () -> manager.listen(tck.address("listen"), 1));
    expectFailure(CLOSED, () -> manager.resolve(tck.address("nobody"), tck.timeout().toNanos()));
  }

  private ConnectionManager manager() {
    return tck.own(tck.device().createConnectionManager());
  }
}
