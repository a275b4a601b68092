// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.Device;
import io.verbena.verbs.Gid;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the wire options of an address. */
class WireOptionsTest {
  private static final int PCAP_HEADER = 24;

  private static Device open(String options) {
    return new EmulatedProvider().open(URI.create("emulated://wire?" + options));
  }

  private static Gid gid(Device device) {
    return device.port().gids().get(0);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "wire=copper",
        "loss=0.1",
        "wire=simulated&loss=1.1",
        "wire=simulated&loss=-0.1",
        "wire=simulated&corruption=NaN",
        "wire=simulated&delay=much",
        "wire=simulated&latency=-1",
        "wire=simulated&latency=1000001",
        "wire=simulated&seed=1.5"
      })
  void refusesValuesThatMeanNothing(String options) {
    assertThatThrownBy(() -> open(options))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("expected");
  }

  @Test
  void plugsDevicesWithTheSameOptionsIntoOneWire() {
    try (Device one = open("wire=simulated&seed=7");
        Device same = open("wire=simulated&seed=7");
        Device other = open("wire=simulated&seed=7&loss=0.5")) {
      assertThat(gid(same)).isNotEqualTo(gid(one));
      assertThat(((EmulatedDevice) same).fabric()).isSameAs(((EmulatedDevice) one).fabric());
      assertThat(((EmulatedDevice) other).fabric()).isNotSameAs(((EmulatedDevice) one).fabric());
    }
  }

  @Test
  void beginsACaptureFile(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("wire.pcap");

    open("wire=simulated&pcap=" + file).close();

    assertThat(Files.size(file)).isEqualTo(PCAP_HEADER);
  }

  @Test
  void refusesACaptureFileThatCannotBeWritten(@TempDir Path folder) {
    assertThatThrownBy(() -> open("wire=simulated&pcap=" + folder.resolve("no/such/folder")))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("pcap");
  }
}
