// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DeviceMetersTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final DeviceMeters meters =
      new DeviceMeters(new MeterRegistration(registry, Tags.empty()), "test", "hca0");

  /** A device whose counters the test sets. */
  private static final class Counts implements DeviceCounters {
    private final Map<Counter, Long> counts = new EnumMap<>(Counter.class);

    Counts with(Counter counter, long count) {
      counts.put(counter, count);
      return this;
    }

    @Override
    public Set<Counter> counted() {
      return counts.keySet();
    }

    @Override
    public long get(Counter counter) {
      Long count = counts.get(counter);
      if (count == null || count < 0) {
        throw new VerbsException(VerbsError.IO, "device counter " + counter);
      }
      return count;
    }
  }

  private double retransmissions() {
    return registry
        .get("verbena.device.retransmissions")
        .tags("provider", "test", "device", "hca0")
        .functionCounter()
        .count();
  }

  @Test
  void countsFromWhenADeviceIsOpened() {
    Counts device = new Counts().with(DeviceCounters.Counter.RETRANSMISSIONS, 100);
    meters.opened("first", device);
    assertThat(retransmissions()).isZero();

    device.with(DeviceCounters.Counter.RETRANSMISSIONS, 103);
    assertThat(retransmissions()).isEqualTo(3);
  }

  @Test
  void countsADeviceOnceHoweverManyHaveItOpen() {
    Counts device = new Counts().with(DeviceCounters.Counter.RETRANSMISSIONS, 100);
    meters.opened("first", device);
    device.with(DeviceCounters.Counter.RETRANSMISSIONS, 103);
    meters.opened("second", device);
    device.with(DeviceCounters.Counter.RETRANSMISSIONS, 104);
    meters.closed("first");
    assertThat(retransmissions()).isEqualTo(4);

    device.with(DeviceCounters.Counter.RETRANSMISSIONS, 105);
    assertThat(retransmissions()).isEqualTo(5);
  }

  @Test
  void keepsWhatAClosedDeviceHasCounted() {
    Counts device = new Counts().with(DeviceCounters.Counter.RETRANSMISSIONS, 0);
    meters.opened("first", device);
    device.with(DeviceCounters.Counter.RETRANSMISSIONS, 3);
    meters.closed("first");
    device.with(DeviceCounters.Counter.RETRANSMISSIONS, 50);
    assertThat(retransmissions()).isEqualTo(3);

    meters.opened("again", device);
    device.with(DeviceCounters.Counter.RETRANSMISSIONS, 52);
    assertThat(retransmissions()).isEqualTo(5);
  }

  @Test
  void addsUpDevicesThatCountApart() {
    Counts one = new Counts().with(DeviceCounters.Counter.RETRANSMISSIONS, 0);
    Counts other = new Counts().with(DeviceCounters.Counter.RETRANSMISSIONS, 0);
    meters.opened("first", one);
    meters.opened("second", other);
    one.with(DeviceCounters.Counter.RETRANSMISSIONS, 1);
    other.with(DeviceCounters.Counter.RETRANSMISSIONS, 2);

    assertThat(retransmissions()).isEqualTo(3);
  }

  @Test
  void hasNoMeterOfWhatTheDeviceDoesNotCount() {
    meters.opened("first", new Counts().with(DeviceCounters.Counter.RNR_SENT, 0));

    assertThat(registry.getMeters())
        .extracting(Meter::getId)
        .extracting(Meter.Id::getName)
        .containsExactly("verbena.device.rnr");
    assertThat(registry.find("verbena.device.rnr").tag("direction", "in").functionCounter())
        .isNotNull();
  }

  @Test
  void staysWhereItIsWhenADeviceCannotBeAskedAnyMore() {
    Counts device = new Counts().with(DeviceCounters.Counter.RETRANSMISSIONS, 0);
    meters.opened("first", device);
    device.with(DeviceCounters.Counter.RETRANSMISSIONS, 3);
    assertThat(retransmissions()).isEqualTo(3);
    device.with(DeviceCounters.Counter.RETRANSMISSIONS, -1);

    assertThat(retransmissions()).isEqualTo(3);
  }
}
