// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** Runs programs that come close to their limit of open files, each in a process of its own. */
public final class FileLimit {
  private FileLimit() {}

  /** Runs a program in a JVM that may open 256 files; fails if the program fails. */
  public static void run(Class<?> program, String... arguments)
      throws IOException, InterruptedException {
    List<String> line =
        new ArrayList<>(
            List.of(
                "sh",
                "-c",
                "ulimit -n 256 && exec \"$0\" \"$@\"",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                // The JVM's own threads would otherwise open cgroup files now and then.
                "-Xint",
                "-XX:-UseContainerSupport",
                "-cp",
                System.getProperty("java.class.path"),
                program.getName()));
    line.addAll(List.of(arguments));
    Process process = new ProcessBuilder(line).redirectErrorStream(true).start();

    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as("%s", said).isZero();
  }

  /** Opens files until the process may open only {@code free} more, and returns them. */
  public static List<FileChannel> openAllBut(int free) throws IOException {
    List<FileChannel> files = new ArrayList<>();
    try {
      while (true) {
        files.add(FileChannel.open(Path.of("/dev/null"), StandardOpenOption.READ));
      }
    } catch (IOException e) {
      for (int i = 0; i < free; i++) {
        files.remove(files.size() - 1).close();
      }
      return files;
    }
  }
}
