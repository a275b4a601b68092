// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The TCK on a device of the fake rdma-core, and devices, connections and calls that fail, with the
 * native libraries as the address and the undefined behaviour sanitizer have them: any report of
 * theirs ends the program.
 */
@Tag(FakeRdmaCore.TAG)
@Tag("once")
final class SanitizedTest {
  /** What the POM has built, laid out as in the jar. */
  private static final Path LIBRARIES = Path.of("target/native-asan").toAbsolutePath();

  @Test
  void theTckAndDevicesThatFail() throws Exception {
    FakeRdmaCore.assumeLoaded();
    assumeTrue(Files.isDirectory(LIBRARIES.resolve("io")), "no sanitized libraries");
    String sanitizer = Natives.run(List.of("cc", "-print-file-name=libasan.so")).strip();
    List<String> line =
        new ArrayList<>(
            List.of(
                "env",
                "LD_PRELOAD=" + sanitizer + ":" + System.getenv("LD_PRELOAD"),
                // The JVM handles SIGSEGV itself, and frees little at its end.
                "ASAN_OPTIONS=detect_leaks=0:handle_segv=0",
                "UBSAN_OPTIONS=print_stacktrace=1"));
    List<String> java = new ArrayList<>(Natives.java("-XX:TieredStopAtLevel=1"));
    int classPath = java.indexOf("-cp") + 1;
    java.set(classPath, LIBRARIES + File.pathSeparator + java.get(classPath));
    line.addAll(java);
    line.add(SanitizedVerbs.class.getName());
    line.add(Mlx5RoceTest.class.getName());
    line.add(FailingDevicesTest.class.getName());
    line.add(FailingConnectionsTest.class.getName());
    line.add(FailingCallsTest.class.getName());
    line.add(AnyCallTest.class.getName());
    line.add(CompletionOrderTest.class.getName());
    line.add(GidTableTest.class.getName());

    assertThat(Natives.run(line))
        .contains("sanitizer: true")
        .containsPattern("succeeded: [2-9]\\d\\d\n")
        .doesNotContain("runtime error");
  }
}
