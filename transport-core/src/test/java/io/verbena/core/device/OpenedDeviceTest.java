// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.verbena.RdmaOptions;
import io.verbena.meters.Credit;
import io.verbena.meters.HcaMeter;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class OpenedDeviceTest {
  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);

  private final Device device = device("opened-device");

  private static Device device(String name) {
    URI address = URI.create("emulated://" + name);
    return VerbsProviders.find(address).open(address);
  }

  private OpenedDevice opened() {
    return new OpenedDevice(
        "test", "test", "emulated", device, RdmaOptions.defaults(), Set.of(Credit.RECEIVE), null);
  }

  @Test
  void closesAllThatItOpened() {
    OpenedDevice opened = opened();
    opened.dispatcher().start();
    opened.memory().allocator().buffer(100).release();

    opened.close(PATIENCE);

    assertThat(opened.memory().registeredBytes()).isZero();
    assertIsClosed(device);
  }

  @Test
  void givesMemoryBackThatNobodyUsesAnyMore() {
    OpenedDevice opened = opened();
    opened.dispatcher().start();
    ByteBufAllocator allocator = opened.memory().allocator();
    ByteBuf small = allocator.buffer(100);
    long idle = opened.memory().registeredBytes();
    List<ByteBuf> burst = Stream.generate(() -> allocator.buffer(1 << 20)).limit(64).toList();
    assertThat(opened.memory().registeredBytes()).isGreaterThanOrEqualTo(idle + (60 << 20));

    burst.forEach(ByteBuf::release);

    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () -> assertThat(opened.memory().registeredBytes()).isLessThanOrEqualTo(2 * idle));
    small.release();
    opened.close(PATIENCE);
  }

  @Test
  void measuresNothingWithoutMeters() {
    OpenedDevice opened = opened();

    assertThat(opened.meter()).isSameAs(HcaMeter.OFF);
    opened.close(PATIENCE);
  }

  @Test
  void closesEverythingWhenItIsInterrupted() {
    OpenedDevice opened = opened();
    opened.dispatcher().start();
    Thread.currentThread().interrupt();

    opened.close(PATIENCE);

    assertThat(Thread.interrupted()).isTrue();
    assertIsClosed(device);
  }

  @Test
  void rejectsADeviceThatIsClosed() {
    device.close();

    assertThatThrownBy(this::opened).isInstanceOf(VerbsException.class);
  }

  private static void assertIsClosed(Device device) {
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(device::allocateProtectionDomain)
        .satisfies(e -> assertThat(e.error()).isEqualTo(VerbsError.CLOSED));
  }
}
