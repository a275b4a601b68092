// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A device opens with the options of its address. */
class AddressOptionsTest {
  private static EmulatedDevice open(String address) {
    return (EmulatedDevice) new EmulatedProvider().open(URI.create(address));
  }

  @ParameterizedTest
  @CsvSource({
    "emulated://a?mode=later, mode: later (expected: sync or async)",
    "emulated://a?mode=async&seed=x, seed: x (expected: a whole number)",
    "emulated://a?seed=1, seed: without wire (expected: simulated)",
    "emulated://a?mode=async&wire=simulated, wire: simulated (expected: nothing with mode=async)",
    "emulated://a?mode=async&mode=sync, mode stands there twice",
    "emulated://a?speed=9, 'option: speed (expected: one of mode, '"
  })
  void refusesWhatItDoesNotKnow(String address, String message) {
    assertThatThrownBy(() -> open(address))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(message);
  }

  @Test
  void devicesWithTheSameOptionsReachEachOther() {
    EmulatedDevice plain = open("emulated://a");
    EmulatedDevice sync = open("emulated://b?mode=sync");
    EmulatedDevice one = open("emulated://c?mode=async&seed=4");
    EmulatedDevice same = open("emulated://d?seed=4&mode=async");
    EmulatedDevice other = open("emulated://e?mode=async&seed=5");

    assertThat(plain.fabric()).isSameAs(sync.fabric()).isNotSameAs(one.fabric());
    assertThat(one.fabric()).isSameAs(same.fabric()).isNotSameAs(other.fabric());

    plain.close();
    sync.close();
    one.close();
    same.close();
    other.close();
  }

  @Test
  void theEngineSleepsWithoutWorkAndEndsWithTheLastDevice() {
    long seed = 987_654;
    EmulatedDevice first = open("emulated://a?mode=async&seed=" + seed);
    EmulatedDevice second = open("emulated://a?mode=async&seed=" + seed);
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> engine(seed).map(Thread::getState).orElseThrow() == Thread.State.WAITING);

    first.close();
    assertThat(engine(seed)).isPresent();
    second.close();

    await().atMost(Duration.ofSeconds(30)).until(() -> engine(seed).isEmpty());
  }

  private static Optional<Thread> engine(long seed) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("emulated-engine-seed-" + seed))
        .findFirst();
  }
}
