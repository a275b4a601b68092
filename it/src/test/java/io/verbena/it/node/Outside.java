// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.node;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.it.Program;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The outside host on the nodes' switch, which has no RDMA device: programs there use an emulated
 * HCA on UDP sockets.
 */
public final class Outside {
  /**
   * The first JDK whose UDP sockets leave the IP identification 0, which rxe's check of the
   * invariant CRC needs.
   */
  private static final int FIRST_JDK = 19;

  private static final Path USUAL = Path.of("/usr/lib/jvm");

  private Outside() {}

  /** Returns whether this JVM is in a guest with an outside host. */
  public static boolean isThere() {
    return System.getenv("VERBENA_OUTSIDE") != null;
  }

  /** Returns the address of the outside host. */
  public static String address() {
    return Objects.requireNonNull(System.getenv("VERBENA_OUTSIDE"), "VERBENA_OUTSIDE");
  }

  /** Returns the command line of a program on the outside host. */
  public static List<String> there(String... line) {
    return there(List.of(line));
  }

  private static List<String> there(List<String> line) {
    List<String> there = new ArrayList<>(List.of("outside"));
    there.addAll(line);
    return there;
  }

  /**
   * Returns the command line of a Java program there; skips the test, with a message, if there is
   * no suitable JDK.
   */
  public static List<String> java(Class<?> main, String... arguments) throws IOException {
    Path jdk = jdk();
    if (jdk == null) {
      System.err.println(
          "*** SKIPPED, NOT TESTED HERE: roce:// against Soft-RoCE. No JDK 25 in JAVA25_HOME or"
              + " /usr/lib/jvm, and what JDK 17 sends rxe drops");
    }
    assumeTrue(jdk != null, "no JDK 25");
    List<String> line = new ArrayList<>(Program.java(main, arguments));
    line.set(0, jdk + "/bin/java");
    return there(line);
  }

  /** Returns this JVM's JDK, or JDK 25 from the place where {@code bin/test} finds it. */
  private static @Nullable Path jdk() throws IOException {
    if (Runtime.version().feature() >= FIRST_JDK) {
      return Path.of(System.getProperty("java.home"));
    }
    String named = System.getenv("JAVA25_HOME");
    if (named != null) {
      return Path.of(named);
    }
    if (Files.isDirectory(USUAL)) {
      try (DirectoryStream<Path> jdks = Files.newDirectoryStream(USUAL, "*25*")) {
        for (Path each : jdks) {
          if (Files.isExecutable(each.resolve("bin/java"))) {
            return each;
          }
        }
      }
    }
    return null;
  }
}
