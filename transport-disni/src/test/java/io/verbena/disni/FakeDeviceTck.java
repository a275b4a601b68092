// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.tck.Deviation;
import io.verbena.tck.VerbsTck;
import java.net.URI;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Runs the verbs TCK on one device of the fake rdma-core. */
@Tag(FakeRdmaCore.TAG)
abstract class FakeDeviceTck extends VerbsTck {
  private static final int SLOWER = 50;
  private static final AtomicInteger NEXT_PORT = new AtomicInteger(20_000);
  private static final ConcurrentHashMap<String, Integer> PORTS = new ConcurrentHashMap<>();

  private final String host;
  private final @Nullable Deviation gids;

  /**
   * @param host an address of the device, as in its profile
   * @param bothTypes whether each address has two GIDs, one of RoCE v1 and one of v2
   */
  FakeDeviceTck(String host, boolean bothTypes) {
    this.host = host;
    gids =
        bothTypes
            ? new Deviation(
                "Found duplicate",
                "an address is in the table twice, as v1 and as v2, and Gid tells no type")
            : null;
  }

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  @Override
  protected URI address(String name) {
    int port = PORTS.computeIfAbsent(host + name, n -> NEXT_PORT.getAndIncrement());
    return FakeRdmaCore.uri(host + ":" + port);
  }

  @Override
  protected @Nullable Deviation deviation(String test) {
    return switch (test) {
      case "ResizedCompletionQueues.namesWhatItHoldsWhenItIsToShrinkBelow" ->
          new Deviation(
              "the verb must fail with INVALID",
              "depths are rounded up to one less than a power of two, as mlx5 does, so all fit");
      case "Devices.hasAPortThatIsUp" -> gids;
      default -> null;
    };
  }

  @Override
  protected int iterations(int full) {
    return Math.max(1, full / SLOWER);
  }
}
