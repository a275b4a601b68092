// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.AddressVector;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Device;
import io.verbena.verbs.Gid;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Addresses of an interface are added and removed while its device is open. */
@Tag(FakeRdmaCore.TAG)
@Isolated("a test opens the device while the other changes its table")
final class GidTableTest {
  private static final URI ADDRESS = FakeRdmaCore.uri("10.0.20.1:0");
  private static final URI NEW = FakeRdmaCore.uri("10.0.120.1:0");
  private static final int FREE = 6;

  private Device device;

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  @BeforeEach
  void open() {
    device = FakeRdmaCore.open(ADDRESS);
  }

  @AfterEach
  void close() {
    FakeRdmaCore.script("no-gid mlx5_20 1 " + FREE);
    device.close();
  }

  @Test
  void connectsFromAnAddressThatCameLater() throws Exception {
    List<Gid> before = device.port().gids();
    assertThatThrownBy(() -> FakeRdmaCore.open(NEW))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("no device has or reaches /10.0.120.1");

    FakeRdmaCore.script("gid mlx5_20 1 " + FREE + " v2 10.0.120.1");

    assertThat(device.port().gids()).hasSize(before.size() + 1).containsAll(before);
    try (FakeConnection link = new FakeConnection(NEW, "?gid=" + FREE, false)) {
      assertThat(link.active.localAddress().getAddress().getHostAddress()).isEqualTo("10.0.120.1");
    }
  }

  @Test
  void knowsNoAddressThatIsGone() {
    List<Gid> before = device.port().gids();
    FakeRdmaCore.script("gid mlx5_20 1 " + FREE + " v2 10.0.120.1");
    FakeRdmaCore.script("no-gid mlx5_20 1 " + FREE);

    assertThat(device.port().gids()).isEqualTo(before);
    assertThatThrownBy(() -> FakeRdmaCore.open(URI.create(ADDRESS + "?gid=" + FREE)))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("gid: 6 (expected: 0..5)");
  }

  @Test
  void isAskedForAtOnce() {
    int before = FakeRdmaCore.gidQueries();

    assertThat(device.port().gids()).hasSize(FREE);

    assertThat(FakeRdmaCore.gidQueries() - before).isZero();
  }

  @Test
  void isAskedForOneGidByAnAddressHandle() {
    Gid destination = new Gid(0, 0xffff_0a00_0b01L);
    try (Device datagrams = FakeRdmaCore.open(FakeRdmaCore.uri("10.0.11.1:0"));
        ProtectionDomain domain = datagrams.allocateProtectionDomain()) {
      int before = FakeRdmaCore.gidQueries();

      domain.createAddressHandle(new AddressVector(destination, 3, 64, 0, 0)).close();

      assertThat(FakeRdmaCore.gidQueries() - before).isEqualTo(1);
    }
  }

  @Test
  void waitsOnWhenOnlyTheTableChanged() throws Exception {
    FakeRdmaCore.script("gid mlx5_20 1 " + FREE + " v2 10.0.120.1");
    FakeRdmaCore.script("down mlx5_20 1");
    FakeRdmaCore.script("up mlx5_20 1");

    assertThat(device.awaitAsyncEvent(TimeUnit.SECONDS.toNanos(10)))
        .isEqualTo(new AsyncEvent(AsyncEvent.Type.PORT_ERR, null));
  }
}
