// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that registered memory is on huge pages if the C library is configured so, as {@code
 * docs/real-nics.md} describes. Checks only the advice to the kernel ({@code hg} among the flags of
 * the mapping), because a huge page may not be free at that moment.
 */
@Tag("once")
@EnabledOnOs(OS.LINUX)
class HugePagesTest {
  private static final Path SETTING = Path.of("/sys/kernel/mm/transparent_hugepage/enabled");
  private static final Path RESERVED = Path.of("/proc/sys/vm/nr_hugepages");
  private static final String ADVISED = "(?s).*\nVmFlags:[^\n]* hg .*";

  private static final int LIMIT_SECONDS = 60;

  /** Values of glibc's {@code malloc.hugetlb}: transparent pages, or reserved ones. */
  private static final String TRANSPARENT = "glibc.malloc.hugetlb=1";

  private static final String OF_RESERVED = "glibc.malloc.hugetlb=2";

  @TempDir private Path folder = Path.of("");

  @BeforeAll
  static void needsAGlibcThatKnowsThem() throws Exception {
    String version = getconf("GNU_LIBC_VERSION");
    String minor = version.replaceFirst("glibc 2\\.(\\d+).*", "$1");
    boolean knows = minor.matches("\\d+") && Integer.parseInt(minor) >= 35;
    skipUnless(knows, "the C library is " + version + ", and glibc has them from 2.35 on");
  }

  private static String getconf(String name) throws IOException {
    Process asked = new ProcessBuilder("getconf", name).start();
    return new String(asked.getInputStream().readAllBytes(), UTF_8).strip();
  }

  private static void skipUnless(boolean isThere, String why) {
    if (!isThere) {
      System.err.println("*** SKIPPED, NOT TESTED HERE: registered memory on huge pages. " + why);
    }
    assumeTrue(isThere, why);
  }

  /** Returns what the kernel reports about the pages of registered memory in a new JVM. */
  private String pages(String tunables) throws IOException, InterruptedException {
    Path output = folder.resolve("output");
    ProcessBuilder program =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx256m",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    RegisteredPages.class.getName()))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    program.environment().put("GLIBC_TUNABLES", tunables);
    Process process = program.start();
    try {
      boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      String told = Files.readString(output);
      assertThat(ended).as(told).isTrue();
      assertThat(process.exitValue()).as(told).isZero();
      return told;
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void holdRegisteredMemoryWhereTheyAreAskedFor() throws Exception {
    String setting = Files.exists(SETTING) ? Files.readString(SETTING).strip() : "none";
    // If the kernel's setting is "always", glibc advises nothing.
    skipUnless(setting.contains("[madvise]"), SETTING + ": " + setting + " (expected: [madvise])");

    assertThat(pages(TRANSPARENT)).matches(ADVISED);
    assertThat(pages("")).contains("\nVmFlags:").doesNotMatch(ADVISED);
  }

  @Test
  void areOrdinaryOnesWhereNoneAreReserved() throws Exception {
    String reserved = Files.exists(RESERVED) ? Files.readString(RESERVED).strip() : "0";
    skipUnless(reserved.equals("0"), RESERVED + ": " + reserved + " (expected: 0)");

    int ordinary = Integer.parseInt(getconf("PAGESIZE")) / 1024;
    assertThat(pages(OF_RESERVED)).containsPattern("\nKernelPageSize: +" + ordinary + " kB\n");
  }
}
