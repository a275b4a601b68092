// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.VerbsError.BUSY;
import static io.verbena.verbs.VerbsError.CLOSED;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NO_DEVICE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.Capability;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Finding a provider, opening a device, its attributes and its port. */
abstract class DeviceTests extends VerbsTests {
  DeviceTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void findsTheProviderByItsScheme() {
    URI address = tck.address("scheme");

    VerbsProvider provider = VerbsProviders.find(address);

    assertThat(provider.scheme())
        .isEqualTo(address.getScheme().toLowerCase(Locale.ROOT))
        .isLowerCase();
  }

  @Test
  void namesTheSchemesThatArePresentWhenOneIsUnknown() {
    String present = VerbsProviders.find(tck.address("scheme")).scheme();

    assertThat(
            expectFailure(
                NO_DEVICE, () -> VerbsProviders.find(URI.create("no-such-scheme://anywhere"))))
        .hasMessageContaining("no-such-scheme")
        .hasMessageContaining(present);
  }

  @Test
  void opensADeviceThatTheProviderNames() {
    VerbsProvider provider = VerbsProviders.find(tck.address("name"));

    assertThat(provider.deviceNames()).contains(tck.device().attributes().name());
  }

  @Test
  void refusesAnOptionThatItDoesNotKnow() {
    URI address = tck.address("options");
    URI withOption = URI.create(address + "?no-such-option=1");

    assertThat(
            expectFailure(INVALID, () -> tck.own(VerbsProviders.find(withOption).open(withOption))))
        .hasMessageContaining("no-such-option");
  }

  @Test
  void hasANameAndAVersion() {
    assertThat(tck.attributes().name()).isNotBlank();
    assertThat(tck.attributes().firmware()).isNotBlank();
  }

  @Test
  void hasRoomForTheObjectsOfAConnection() {
    DeviceAttributes attributes = tck.attributes();

    assertThat(attributes.maxProtectionDomains()).as("protection domains").isPositive();
    assertThat(attributes.maxCompletionQueues()).as("completion queues").isPositive();
    assertThat(attributes.maxCompletions()).as("completions").isPositive();
    assertThat(attributes.maxQueuePairs()).as("queue pairs").isPositive();
    assertThat(attributes.maxWorkRequests()).as("work requests").isPositive();
    assertThat(attributes.maxScatterGather()).as("scatter/gather").isPositive();
    assertThat(attributes.maxMemoryRegions()).as("memory regions").isPositive();
    assertThat(attributes.maxMemoryRegionSize()).as("region size").isGreaterThan(1 << 20);
    assertThat(attributes.maxMessageSize()).as("message size").isGreaterThanOrEqualTo(1 << 20);
    assertThat(attributes.maxReadAtomicAsInitiator()).as("READs as initiator").isPositive();
    assertThat(attributes.maxReadAtomicAsResponder()).as("READs as responder").isPositive();
  }

  @Test
  void hasALimitWhereItHasACapabilityAndNoneElsewhere() {
    DeviceAttributes attributes = tck.attributes();

    assertThat(attributes.maxInlineData() > 0)
        .as("inline data")
        .isEqualTo(attributes.supports(Capability.INLINE_DATA));
    assertThat(attributes.maxAddressHandles() > 0)
        .as("address handles")
        .isEqualTo(attributes.supports(Capability.UNRELIABLE_DATAGRAM));
    assertThat(attributes.maxSharedReceiveQueues() > 0)
        .as("shared receive queues")
        .isEqualTo(attributes.supports(Capability.SHARED_RECEIVE_QUEUE));
    assertThat(attributes.maxSharedReceiveRequests() > 0)
        .as("shared receives")
        .isEqualTo(attributes.supports(Capability.SHARED_RECEIVE_QUEUE));
    assertThat(attributes.maxMemoryWindows() > 0)
        .as("memory windows")
        .isEqualTo(
            attributes.supports(Capability.MEMORY_WINDOW_TYPE_1)
                || attributes.supports(Capability.MEMORY_WINDOW_TYPE_2B));
  }

  @Test
  void hasAPortThatIsUp() {
    PortAttributes port = tck.device().port();

    assertThat(port.active()).isTrue();
    assertThat(port.number()).isPositive();
    assertThat(port.activeMtu()).isLessThanOrEqualTo(port.maxMtu());
    assertThat(port.gids()).isNotEmpty().doesNotHaveDuplicates();
  }

  @Test
  void isBusyWhileAProtectionDomainIsOpen() {
    Device device = tck.openDevice("busy");
    tck.own(device.allocateProtectionDomain());

    assertThat(expectFailure(BUSY, device::close)).hasMessageMatching("(?is).*domain.*");
  }

  @Test
  void isBusyWhileACompletionQueueIsOpen() {
    Device device = tck.openDevice("busy");
    tck.own(device.createCompletionQueue(1, null));

    assertThat(expectFailure(BUSY, device::close)).hasMessageMatching("(?is).*queue.*");
  }

  @Test
  void isBusyWhileACompletionChannelIsOpen() {
    Device device = tck.openDevice("busy");
    tck.own(device.createCompletionChannel());

    assertThat(expectFailure(BUSY, device::close)).hasMessageMatching("(?is).*channel.*");
  }

  @Test
  void isBusyWhileAConnectionManagerIsOpen() {
    Device device = tck.openDevice("busy");
    tck.own(device.createConnectionManager());

    assertThat(expectFailure(BUSY, device::close)).hasMessageMatching("(?is).*manager.*");
  }

  @Test
  void isStillUsableAfterACloseThatFailed() {
    Device device = tck.openDevice("busy");
    tck.own(device.allocateProtectionDomain());
    expectFailure(BUSY, device::close);

    assertThat(tck.own(device.createCompletionQueue(1, null)).depth()).isPositive();
  }

  @Test
  void makesNothingOnceItIsClosed() {
    Device device = tck.openDevice("closed");
    device.close();

    expectFailure(CLOSED, device::allocateProtectionDomain);
    expectFailure(CLOSED, device::createCompletionChannel);
    expectFailure(CLOSED, () -> device.createCompletionQueue(1, null));
    expectFailure(CLOSED, device::createConnectionManager);
  }

  @Test
  void mayBeClosedTwice() {
    Device device = tck.openDevice("twice");

    device.close();
    device.close();
  }

  @Test
  void givesUpWaitingForAnAsyncEventWhenTheTimeIsOver() throws InterruptedException {
    Duration time = Duration.ofMillis(20);
    long start = System.nanoTime();

    assertThat(tck.device().awaitAsyncEvent(time.toNanos())).isNull();

    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(time.toNanos());
    assertThat(tck.device().awaitAsyncEvent(0)).isNull();
  }

  @Test
  void endsTheWaitForAnAsyncEventWhenItIsClosed() throws Exception {
    Device device = tck.openDevice("closed");
    CompletableFuture<Object> waited = new CompletableFuture<>();
    Thread waiter =
        Parallel.start(
            () -> waited.complete(String.valueOf(device.awaitAsyncEvent(Long.MAX_VALUE))));
    Parallel.awaitBlocked(waiter, tck.timeout());

    device.close();

    assertThat(waited.get(tck.timeout().toNanos(), TimeUnit.NANOSECONDS)).isEqualTo("null");
  }

  @Test
  void letsTheWaitForAnAsyncEventBeInterrupted() {
    Device device = tck.device();
    Thread.currentThread().interrupt();

    assertThatThrownBy(() -> device.awaitAsyncEvent(tck.timeout().toNanos()))
        .isInstanceOf(InterruptedException.class);
  }
}
