// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.rnics;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the reactive layer on an RNIC whose ports are in different networks. */
@Tag("once")
class TwoNetworksTest {
  private static final Path PROFILES =
      Path.of("../transport-disni/src/test/native/fake-rdma-core/profiles");

  @TempDir private Path folder;

  @Test
  void areBothReachedWhereThereAreOtherDevicesToo() throws Exception {
    String output = FakeRnics.run(List.of(), Map.of(), List.of(TwoNetworks.class.getName()));

    assertThat(output).contains("succeeded: 12\n").endsWith("exit code 0");
  }

  @Test
  void areBothReachedByTheOnlyDevice() throws Exception {
    Files.copy(PROFILES.resolve("mlx5-dual"), folder.resolve("mlx5-dual"));

    String output =
        FakeRnics.run(
            List.of(),
            Map.of("FAKE_RDMA_CORE", folder.toString()),
            List.of(TwoNetworks.class.getName()));

    assertThat(output).contains("succeeded: 11\n").endsWith("exit code 0");
  }
}
