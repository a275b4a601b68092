// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.DeviceCounters.Counter;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests the counters that an engine reports to its device. */
class CountersTest {
  @Test
  void countsNothingWhereNothingGoesWrong() {
    Pair pair = Pair.reliable();
    pair.a.post(pair.write(1, 0, 5 * Pair.MTU, 0));
    pair.run();

    assertThat(pair.a.host.counts).isEmpty();
    assertThat(pair.b.host.counts).isEmpty();
  }

  @Test
  void countsATimeoutAndWhatComesTwice() {
    Pair pair = Pair.reliable();
    // Packet 1 is the acknowledgement of packet 0.
    pair.wire.fault = TestWire.dropping(1);
    pair.a.post(pair.write(1, 0, 10, 0));
    pair.run();

    assertThat(pair.a.host.counts).isEqualTo(Map.of(Counter.RETRANSMISSIONS, 1));
    assertThat(pair.b.host.counts).isEqualTo(Map.of(Counter.DUPLICATES, 1));
  }

  @Test
  void countsAGapOnce() {
    Pair pair = Pair.reliable(attributes -> attributes.timeout(0));
    pair.wire.fault = TestWire.dropping(1);
    pair.a.post(pair.write(1, 0, 5 * Pair.MTU, 0));
    pair.run();

    assertThat(pair.a.host.counts).isEqualTo(Map.of(Counter.RETRANSMISSIONS, 1));
    assertThat(pair.b.host.counts).isEqualTo(Map.of(Counter.OUT_OF_SEQUENCE, 1));
  }

  @Test
  void countsEachMessageThatFindsNoReceiveAtBothEnds() {
    Pair pair = Pair.reliable(attributes -> attributes.rnrRetry(3));
    pair.a.queue(pair.send(1, 0, 10));
    pair.a.run();
    pair.run();

    assertThat(pair.a.host.counts).isEqualTo(Map.of(Counter.RNR_RECEIVED, 4));
    assertThat(pair.b.host.counts).isEqualTo(Map.of(Counter.RNR_SENT, 4));
  }
}
