// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HardwareCountersTest {
  @TempDir Path folder;

  private void file(String name, String content) throws IOException {
    Files.writeString(folder.resolve(name), content);
  }

  @Test
  void readsTheFilesOfSoftRoce() throws IOException {
    file("send_rnr_err", "1\n");
    file("rcvd_rnr_err", "2\n");
    file("completer_retry_err", "3\n");
    file("out_of_seq_request", "4\n");
    file("duplicate_request", "18446744073709551615\n");
    HardwareCounters counters = new HardwareCounters(folder);

    assertThat(counters.counted()).containsExactlyInAnyOrder(Counter.values());
    assertThat(counters.get(Counter.RNR_SENT)).isEqualTo(1);
    assertThat(counters.get(Counter.RNR_RECEIVED)).isEqualTo(2);
    assertThat(counters.get(Counter.RETRANSMISSIONS)).isEqualTo(3);
    assertThat(counters.get(Counter.OUT_OF_SEQUENCE)).isEqualTo(4);
    assertThat(counters.get(Counter.DUPLICATES)).isEqualTo(-1);

    file("send_rnr_err", "7\n");
    assertThat(counters.get(Counter.RNR_SENT)).isEqualTo(7);
  }

  @Test
  void addsUpTheFilesOfADriverThatCountsReasonsApart() throws IOException {
    file("local_ack_timeout_err", "1\n");
    file("packet_seq_err", "20\n");
    file("implied_nak_seq_err", "300\n");
    HardwareCounters counters = new HardwareCounters(folder);

    assertThat(counters.counted()).containsExactly(Counter.RETRANSMISSIONS);
    assertThat(counters.get(Counter.RETRANSMISSIONS)).isEqualTo(321);
  }

  @Test
  void refusesWhatTheDriverDoesNotCount() throws IOException {
    file("packet_seq_err", "20\n");
    HardwareCounters counters = new HardwareCounters(folder);

    assertThat(counters.counted()).isEmpty();
    assertThatThrownBy(() -> counters.get(Counter.RETRANSMISSIONS))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.NOT_SUPPORTED))
        .hasMessageContaining("RETRANSMISSIONS");
  }

  @Test
  void countsNothingWithoutAFolder() {
    assertThat(new HardwareCounters(folder.resolve("none")).counted()).isEmpty();
  }

  @Test
  void failsWhenTheFilesAreGone() throws IOException {
    file("send_rnr_err", "1\n");
    HardwareCounters counters = new HardwareCounters(folder);
    Files.delete(folder.resolve("send_rnr_err"));

    assertThatThrownBy(() -> counters.get(Counter.RNR_SENT))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.IO))
        .hasMessageContaining("send_rnr_err");
  }
}
