// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Checks and uses the machine's tools for tests of native code. */
final class Natives {
  private Natives() {}

  /** Skips the test where the build had no C compiler or headers. */
  static void assumePacked() {
    String resource = Platform.current().resource(NativeLibrary.DISNI);
    assumeTrue(
        Natives.class.getClassLoader().getResource(resource) != null,
        () -> resource + ": not built on this machine");
  }

  /** Unpacks one of our libraries into the folder. */
  static Path unpack(String library, Path folder) throws IOException {
    assumePacked();
    Path file = folder.resolve(library);
    try (var content = NativeLibrary.resource(Platform.current(), library)) {
      Files.copy(content, file);
    }
    return file;
  }

  /** Returns the C compiler; skips the test if there is none. */
  static String compiler() {
    String compiler = System.getenv().getOrDefault("CC", "cc");
    boolean found =
        Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, compiler)));
    assumeTrue(found, () -> compiler + ": no C compiler on this machine");
    return compiler;
  }

  /** Compiles a shared library from source text. */
  static void compile(String source, Path library, String... options) throws Exception {
    Path file = Files.createTempFile(library.getParent(), "source", ".c");
    Files.writeString(file, source);
    List<String> command =
        Stream.concat(
                Stream.of(
                    compiler(), "-shared", "-fPIC", "-o", library.toString(), file.toString()),
                Arrays.stream(options))
            .toList();
    run(command);
  }

  /** Runs a program to its end and returns its output; fails the test if the program fails. */
  static String run(List<String> command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    int code = process.waitFor();
    if (code != 0) {
      throw new AssertionError(String.join(" ", command) + ": exit code " + code + "\n" + output);
    }
    return output;
  }

  /** Returns the command line of a JVM like this one, with these arguments. */
  static List<String> java(String... arguments) {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Stream<String> common =
        Stream.of(
            java,
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    return Stream.concat(common, Arrays.stream(arguments)).toList();
  }
}
