// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.it.node.Outside;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The emulated HCA on UDP sockets, for tools in a JVM on the outside host, one at a time. */
final class OutsideHca implements Hca {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final Path folder;
  private final Process process;
  private final DataOutputStream lines;
  private final DataInputStream answers;
  private int started;
  private @Nullable Tool last;

  private OutsideHca(Path folder, Process process) {
    this.folder = folder;
    this.process = process;
    lines = new DataOutputStream(process.getOutputStream());
    answers = new DataInputStream(process.getInputStream());
  }

  /**
   * Starts the JVM; skips the test if there is no suitable JDK.
   *
   * @param folder the folder for output of the tools
   * @param capture the file for a capture of all packets
   */
  static OutsideHca start(Path folder, Path capture) throws IOException {
    List<String> line =
        Outside.java(ToolRunner.class, "roce://" + Outside.address() + "?pcap=" + capture);
    OutsideHca started =
        new OutsideHca(
            folder,
            new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    started.awaitReady();
    return started;
  }

  private void awaitReady() throws IOException {
    await().atMost(LIMIT).until(() -> answers.available() > 0 || !process.isAlive());
    assertThat(answers.readUTF()).isEqualTo(ToolRunner.READY);
  }

  @Override
  public String scheme() {
    return "roce";
  }

  @Override
  public String server() {
    return Outside.address();
  }

  @Override
  public String client() {
    return Outside.address();
  }

  @Override
  public List<String> there(String... line) {
    return Outside.there(line);
  }

  @Override
  public Tool start(String line) throws IOException {
    if (last != null && last.isRunning()) {
      // The tool blocks all later ones.
      process.destroyForcibly();
      throw new IllegalStateException("a test has left a tool behind: " + last);
    }
    Path output = Files.createFile(folder.resolve("tool" + started++));
    last = Tool.start(line, () -> Files.readString(output), () -> run(line, output));
    return last;
  }

  private int run(String line, Path output) throws IOException {
    lines.writeUTF(line);
    lines.writeUTF(output.toString());
    lines.flush();
    return answers.readInt();
  }

  /** Closes the HCA, with its capture, and ends the JVM, which must end successfully. */
  void end() throws IOException, InterruptedException {
    try {
      process.getOutputStream().close();
      assertThat(process.waitFor(LIMIT.toNanos(), TimeUnit.NANOSECONDS))
          .as("the JVM outside ends within %s", LIMIT)
          .isTrue();
      assertThat(process.exitValue()).as("exit code of the JVM outside").isZero();
    } finally {
      process.destroyForcibly();
    }
  }
}
