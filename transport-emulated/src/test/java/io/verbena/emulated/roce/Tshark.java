// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** Runs Wireshark's dissectors as a program. */
public final class Tshark {
  private static final int DEADLINE_SECONDS = 90;

  /** Protocols that Wireshark would guess from a payload. */
  private static final List<String> GUESSES =
      List.of(
          "fcoib",
          "infiniband.eoib",
          "infiniband_sdp",
          "iser",
          "lnet",
          "nvme-rdma",
          "rpcordma",
          "smb_direct",
          "smc");

  private Tshark() {}

  /** Skips the test with a message if the program is missing. */
  public static void assumeInstalled() {
    boolean installed =
        Arrays.stream(System.getenv("PATH").split(Pattern.quote(File.pathSeparator)))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "tshark")));
    if (!installed) {
      System.err.println(
          "*** SKIPPED, NOT TESTED HERE: packets under Wireshark's eyes. tshark: not on the path");
    }
    assumeTrue(installed, "tshark: not on the path");
  }

  /** Returns the lines that tshark prints about a capture; payloads are not dissected. */
  public static List<String> read(Path capture, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("tshark", "-n", "-r", capture.toString()));
    for (String guess : GUESSES) {
      command.add("--disable-protocol");
      command.add(guess);
    }
    command.addAll(List.of(arguments));
    Path output = capture.resolveSibling("tshark.out");
    Path errors = capture.resolveSibling("tshark.err");
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile())
            .start();
    if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IllegalStateException("tshark: still running after " + DEADLINE_SECONDS + " s");
    }
    if (process.exitValue() != 0) {
      throw new IllegalStateException(
          "tshark: exit " + process.exitValue() + ": " + Files.readString(errors));
    }
    return Files.readAllLines(output);
  }
}
