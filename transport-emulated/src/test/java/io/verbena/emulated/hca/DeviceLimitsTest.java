// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.verbs.Access;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits given by an address; {@code EmulatedLimitsTest} tests that they are enforced. */
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

  private static void refuses(
      String value, String limit, VerbsError error, ThrowingCallable creation) {
    assertThatThrownBy(creation)
        .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.error()).isEqualTo(error))
        .hasMessageContaining(": " + value + " (expected: ")
        .hasMessageContaining(limit + ")");
  }
}
