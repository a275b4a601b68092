// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * A process that holds a shared lock for long, as hosts do briefly to check whether a host is
 * alive.
 */
final class LookingProcess {
  /** Printed when no other process has a lock. */
  static final String LOOKS = "looks";

  /** Printed when another process has a lock. */
  static final String LOCKED = "locked";

  private final Process process;
  private final @Nullable String said;

  LookingProcess(Path file) throws IOException {
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                LookingProcess.class.getName(),
                file.toString())
            .redirectError(Redirect.INHERIT)
            .start();
    said = process.inputReader(StandardCharsets.UTF_8).readLine();
  }

  /** Returns the printed word; null if the process failed. */
  @Nullable String said() {
    return said;
  }

  /** Runs in that process. */
  public static void main(String[] arguments) throws IOException {
    try (FileChannel channel = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.READ);
        FileLock lock = channel.tryLock(0, Long.MAX_VALUE, true)) {
      System.out.println(lock == null ? LOCKED : LOOKS);
      int unused = System.in.read();
    }
  }

  void end() {
    process.destroyForcibly();
  }
}
