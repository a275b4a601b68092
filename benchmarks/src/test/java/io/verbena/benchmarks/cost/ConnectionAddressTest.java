// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ConnectionAddressTest {

  @Test
  void isReachedWithTheDeviceOfWhoAsks() {
    ConnectionAddress address =
        new ConnectionAddress(ConnectionAddress.ROCE, "10.77.0.3", "10.77.0.2", 18_515);

    assertThat(address.uri()).hasToString("roce://10.77.0.2:18515?source=10.77.0.3");
  }

  @Test
  void isListenedAtWithoutASource() {
    assertThat(new ConnectionAddress(ConnectionAddress.RXE, "", "10.77.0.2", 1).uri())
        .hasToString("disni://10.77.0.2:1");
  }
}
