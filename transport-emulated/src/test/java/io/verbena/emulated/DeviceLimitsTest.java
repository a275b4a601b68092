package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits that an address sets down: they are told, and they hold on the whole device. */
class DeviceLimitsTest {
  private static final String NAME = "emulated://limits?";

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final ByteBuffer memory = ByteBuffer.allocateDirect(64);

  private <T extends AutoCloseable> T own(T object) {
    opened.push(object);
    return object;
  }

  private Device open(String options) {
    return own(new EmulatedProvider().open(URI.create(NAME + options)));
  }

  @AfterEach
  void close() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "65537", "many", "", "99999999999"})
  void takesOnlyNumbersUpToWhatThereIs(String value) {
    assertThatThrownBy(() -> open("max-queue-pairs=" + value))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("max-queue-pairs: " + value + " (expected: 1..65536)");
  }

  @Test
  void areTold() {
    Device device = open("max-queue-pairs=3&max-completions=5&max-message-size=4096");

    assertThat(device.attributes().maxQueuePairs()).isEqualTo(3);
    assertThat(device.attributes().maxCompletions()).isEqualTo(5);
    assertThat(device.attributes().maxMessageSize()).isEqualTo(4096);
    assertThat(device.attributes().maxMemoryRegions())
        .isEqualTo(DeviceLimits.FULL.maxMemoryRegions());
  }

  @Test
  void holdForMemoryRegionsOfAllDomainsTogether() throws Exception {
    Device device = open("max-memory-regions=2");
    ProtectionDomain one = own(device.allocateProtectionDomain());
    ProtectionDomain two = own(device.allocateProtectionDomain());

    holdsAtTwo(() -> one.register(memory, Set.of()), () -> two.register(memory, Set.of()));
  }

  @Test
  void holdForMemoryWindowsOfAllDomainsTogether() throws Exception {
    Device device = open("max-memory-windows=2");
    ProtectionDomain one = own(device.allocateProtectionDomain());
    ProtectionDomain two = own(device.allocateProtectionDomain());

    holdsAtTwo(
        () -> one.allocateMemoryWindow(MemoryWindowType.TYPE_2B),
        () -> two.allocateMemoryWindow(MemoryWindowType.TYPE_2B));
  }

  @Test
  void holdForQueuePairsOfAllDomainsTogether() throws Exception {
    Device device = open("max-queue-pairs=2");
    CompletionQueue queue = own(device.createCompletionQueue(4, null));
    ProtectionDomain one = own(device.allocateProtectionDomain());
    ProtectionDomain two = own(device.allocateProtectionDomain());
    QueuePairOptions options = QueuePairOptions.reliable(queue, queue, 1, 1);

    holdsAtTwo(() -> one.createQueuePair(options), () -> two.createQueuePair(options));
  }

  @Test
  void holdForSharedReceiveQueuesOfAllDomainsTogether() throws Exception {
    Device device = open("max-shared-receive-queues=2");
    ProtectionDomain one = own(device.allocateProtectionDomain());
    ProtectionDomain two = own(device.allocateProtectionDomain());

    holdsAtTwo(() -> one.createSharedReceiveQueue(1, 1), () -> two.createSharedReceiveQueue(1, 1));
  }

  @Test
  void holdForAddressHandlesOfAllDomainsTogether() throws Exception {
    Device device = open("max-address-handles=2");
    AddressVector vector = AddressVector.to(device.port().gids().get(0));
    ProtectionDomain one = own(device.allocateProtectionDomain());
    ProtectionDomain two = own(device.allocateProtectionDomain());

    holdsAtTwo(() -> one.createAddressHandle(vector), () -> two.createAddressHandle(vector));
  }

  @Test
  void holdForProtectionDomains() throws Exception {
    Device device = open("max-protection-domains=2");

    holdsAtTwo(device::allocateProtectionDomain, device::allocateProtectionDomain);
  }

  @Test
  void holdForCompletionQueues() throws Exception {
    Device device = open("max-completion-queues=2");

    holdsAtTwo(
        () -> device.createCompletionQueue(1, null), () -> device.createCompletionQueue(1, null));
  }

  @Test
  void holdForWhatIsInOneObject() {
    Device device =
        open(
            "max-completions=8&max-work-requests=4&max-scatter-gather=2&max-inline-data=16"
                + "&max-shared-receive-requests=3&max-memory-region-size=32");
    CompletionQueue queue = own(device.createCompletionQueue(8, null));
    ProtectionDomain domain = own(device.allocateProtectionDomain());

    refuses("9", "8", VerbsError.INVALID, () -> device.createCompletionQueue(9, null));
    refuses("9", "8", VerbsError.INVALID, () -> queue.resize(9));
    refuses(
        "5",
        "4",
        VerbsError.INVALID,
        () -> domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 5, 1)));
    refuses(
        "17",
        "16",
        VerbsError.INVALID,
        () ->
            domain.createQueuePair(
                QueuePairOptions.reliable(queue, queue, 1, 1).withInlineData(17)));
    refuses("3", "2", VerbsError.INVALID, () -> domain.createSharedReceiveQueue(1, 3));
    refuses("4", "3", VerbsError.INVALID, () -> domain.createSharedReceiveQueue(4, 1));
    refuses("64", "32", VerbsError.NO_MEMORY, () -> domain.register(memory, Set.of()));
  }

  @Test
  void holdForARegionThatIsToGrow() {
    Device device = open("max-memory-region-size=32");
    ProtectionDomain domain = own(device.allocateProtectionDomain());
    var region = own(domain.register(memory.slice(0, 32), Set.of(Access.REMOTE_READ)));

    refuses("64", "32", VerbsError.NO_MEMORY, () -> region.reregister(null, memory, null));

    assertThat(region.length()).isEqualTo(32);
  }

  @Test
  void countARegionThatMovesOnlyOnce() {
    Device device = open("max-memory-regions=1");
    ProtectionDomain one = own(device.allocateProtectionDomain());
    ProtectionDomain two = own(device.allocateProtectionDomain());
    var region = one.register(memory, Set.of());

    region.reregister(two, null, null);
    refuses("2", "1", VerbsError.NO_MEMORY, () -> one.register(memory, Set.of()));
    region.close();

    own(one.register(memory, Set.of()));
  }

  /** Makes two, is refused a third, and has it once one is closed. */
  private void holdsAtTwo(
      Supplier<? extends AutoCloseable> here, Supplier<? extends AutoCloseable> there)
      throws Exception {
    AutoCloseable first = here.get();
    own(there.get());
    refuses("3", "2", VerbsError.NO_MEMORY, here::get);

    first.close();

    own(here.get());
  }

  private static void refuses(
      String value, String limit, VerbsError error, ThrowingCallable creation) {
    assertThatThrownBy(creation)
        .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.error()).isEqualTo(error))
        .hasMessageContaining(": " + value + " (expected: ")
        .hasMessageContaining(limit + ")");
  }
}
