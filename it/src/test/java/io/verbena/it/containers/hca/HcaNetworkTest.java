// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.containers.InContainers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the addresses of networks. */
@InContainers
@Tag("exhaustive")
@Tag("once")
class HcaNetworkTest {
  @Test
  void hasOtherAddressesWhereAnotherNetworkHasThese() {
    try (var first = new HcaNetwork("10.77.92.");
        var second = new HcaNetwork("10.77.92.")) {
      assertThat(second.network().getId()).isNotEqualTo(first.network().getId());
      assertThat(second.address(2)).isNotEqualTo(first.address(2)).matches("10\\.\\d+\\.92\\.2");
    }
  }
}
