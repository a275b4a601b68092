// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.Gid;
import org.junit.jupiter.api.Test;

/** Proven addresses are remembered for a limited time and in a limited number. */
class ProvenAddressesTest {
  private static final long MINUTE = 60_000 * Network.MILLI;

  private final ProvenAddresses addresses = new ProvenAddresses();

  private static Gid address(int number) {
    return UdpGid.of(number, RocePacket.UDP_PORT);
  }

  @Test
  void forgetsTheOneThatItHeardOfLongestAgo() {
    for (int i = 0; i < ProvenAddresses.MOST; i++) {
      addresses.add(address(i), i);
    }
    addresses.add(address(0), ProvenAddresses.MOST);

    addresses.add(address(-1), ProvenAddresses.MOST);

    assertThat(addresses.contains(address(0), ProvenAddresses.MOST)).isTrue();
    assertThat(addresses.contains(address(1), ProvenAddresses.MOST)).isFalse();
    assertThat(addresses.contains(address(2), ProvenAddresses.MOST)).isTrue();
  }

  @Test
  void forgetsEachAfterTenMinutes() {
    addresses.add(address(1), 0);

    assertThat(addresses.contains(address(1), 10 * MINUTE - 1)).isTrue();
    assertThat(addresses.contains(address(1), 10 * MINUTE)).isFalse();
  }
}
