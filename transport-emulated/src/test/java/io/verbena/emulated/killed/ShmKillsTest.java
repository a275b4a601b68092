// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.killed;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Kills processes on shared memory at random instants; a dozen here, any number with {@code
 * bin/suite shm-kills}.
 */
@Tag("once")
class ShmKillsTest {
  private static final int KILLS = Integer.getInteger("verbena.shm.kills", 12);
  private static final long SEED = Long.getLong("verbena.shm.seed", System.nanoTime());

  private Path folder;

  @BeforeEach
  void createFolder() throws IOException {
    Path memory = Path.of("/dev/shm");
    folder =
        Files.isDirectory(memory)
            ? Files.createTempDirectory(memory, "verbena-kills")
            : Files.createTempDirectory("verbena-kills");
  }

  @AfterEach
  void removeFolder() throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path each : files) {
        Files.delete(each);
      }
    }
    Files.delete(folder);
  }

  @Test
  @Timeout(value = 2, unit = TimeUnit.HOURS)
  void leaveNothingPendingAndNothingBehind() throws Exception {
    KillRecord told = new KillRun(folder, SEED, KILLS).run();

    assertThat(told.kills()).isEqualTo(KILLS);
    String file = System.getProperty("verbena.shm.kills.record");
    if (file != null) {
      Files.writeString(Path.of(file), told.table());
    }
  }
}
