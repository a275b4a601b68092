// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.rnics;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the removal and return of a device in the reactive layer and in Netty's channels. */
@Tag("once")
class RemovalTest {
  @TempDir private Path folder;

  @Test
  void endsAllThatIsOnADevice() throws Exception {
    Path script = folder.resolve("script");
    assertThat(new ProcessBuilder("mkfifo", script.toString()).start().waitFor()).isZero();

    String output =
        FakeRnics.run(
            List.of(),
            Map.of(RemovedDevice.SCRIPT, script.toString()),
            List.of(RemovedDevice.class.getName()));

    assertThat(output).contains("succeeded: 2\n").endsWith("exit code 0");
  }
}
