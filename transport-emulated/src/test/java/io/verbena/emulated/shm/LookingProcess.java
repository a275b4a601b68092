// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A process that looks for long whether a host lives, as others do for a moment. */
final class LookingProcess {
  private final Process process;

  LookingProcess(Path host) throws IOException {
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                LookingProcess.class.getName(),
                host.toString())
            .redirectError(Redirect.INHERIT)
            .start();
    assertThat(process.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("looks");
  }

  /** The process. */
  public static void main(String[] arguments) throws IOException {
    try (FileChannel channel = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.READ);
        FileLock lock = channel.tryLock(0, Long.MAX_VALUE, true)) {
      System.out.println(lock == null ? "lives" : "looks");
      int unused = System.in.read();
    }
  }

  void end() {
    process.destroyForcibly();
  }
}
