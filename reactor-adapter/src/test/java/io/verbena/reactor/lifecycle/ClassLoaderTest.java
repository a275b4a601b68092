// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.reactor.testing.Ends;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests threads with another context class loader, as in pools and application servers. */
class ClassLoaderTest {

  @Test
  void connectsFromAThreadWhoseLoaderFindsNoProvider() throws Exception {
    try (Ends ends = Ends.create()) {
      FutureTask<Ends.Pair> connect = new FutureTask<>(ends::connect);

      elsewhere(connect);

      assertThat(connect.get(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isNotNull();
    }
  }

  @Test
  void createsATransportInAThreadWhoseLoaderFindsNone() throws Exception {
    FutureTask<Ends.Pair> create =
        new FutureTask<>(
            () -> {
              try (Ends ends = Ends.create()) {
                return ends.connect();
              }
            });

    elsewhere(create);

    assertThat(create.get(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isNotNull();
  }

  private static void elsewhere(FutureTask<?> task) {
    Thread thread = new Thread(task, "of-another-loader");
    thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
    thread.start();
  }
}
