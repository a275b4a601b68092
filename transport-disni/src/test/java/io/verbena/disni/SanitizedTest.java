// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.commons.support.ReflectionSupport;

/**
 * The TCK on devices of the fake rdma-core, and devices, connections and calls that fail, with the
 * native libraries as the address and the undefined behaviour sanitizer have them: any report of
 * theirs ends the program.
 */
@Tag(FakeRdmaCore.TAG)
@Tag("once")
final class SanitizedTest {
  /** The libraries that the POM has built, laid out as in the jar. */
  private static final Path LIBRARIES = Path.of("target/native-asan").toAbsolutePath();

  /**
   * The file of {@code bin/suite rnics} for what ran on each device, alone in its JVM; or null, and
   * two devices and all faults share one.
   */
  private static final @Nullable String RECORD = System.getProperty("verbena.sanitized.record");

  /** How many classes of the TCK there are at least: a class that is not found is not tested. */
  private static final int DEVICES = 11;

  private static final int FEWEST_TESTS = 500;

  /**
   * The two devices that differ most in what the native libraries do for them, which is why each
   * build takes them. A ConnectX is driven by attributes as well as by rdma_cm, moderates, resizes
   * and registers again, and negotiates ECE. Soft-iWARP has none of these, hides states and flushes
   * nothing late.
   */
  private static final List<Class<?>> MOST_DIFFERENT =
      List.of(Mlx5RoceTest.class, SoftIwarpVerbsTest.class);

  private static final List<Class<?>> FAULTS =
      List.of(
          FailingDevicesTest.class,
          FailingConnectionsTest.class,
          FailingCallsTest.class,
          AnyCallTest.class,
          CompletionOrderTest.class,
          TwoDevicesTest.class,
          GidTableTest.class);

  /** A line of {@link SanitizedVerbs}: class, tests that ran, that failed, that were skipped. */
  private static final Pattern COUNTS =
      Pattern.compile(
          "(?m)^Tests run: (\\d+), Failures: (\\d+), Skipped: (\\d+), Time elapsed: (\\S+) s"
              + " -- in (\\w+)$");

  @BeforeAll
  static void needsTheFakeAndTheSanitizers() {
    FakeRdmaCore.assumeLoaded();
    assumeTrue(Files.isDirectory(LIBRARIES.resolve("io")), "no sanitized libraries");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("programs")
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void theTckAndDevicesThatFail(List<Class<?>> classes) throws Exception {
    String rows = passesInAJvm(classes);

    if (RECORD != null) {
      Files.writeString(
          Path.of(RECORD), rows, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
  }

  /** The classes of each JVM. */
  static List<List<Class<?>>> programs() {
    if (RECORD == null) {
      return List.of(Stream.concat(MOST_DIFFERENT.stream(), FAULTS.stream()).toList());
    }
    List<List<Class<?>>> programs = new ArrayList<>();
    ReflectionSupport.findAllClassesInPackage(
            SanitizedTest.class.getPackageName(),
            type ->
                FakeDeviceTck.class.isAssignableFrom(type)
                    && !Modifier.isAbstract(type.getModifiers()),
            name -> name.endsWith("Test"))
        .stream()
        .sorted(Comparator.comparing(Class::getName))
        .forEach(type -> programs.add(List.of(type)));
    assertThat(programs).hasSizeGreaterThanOrEqualTo(DEVICES);
    programs.add(FAULTS);
    return programs;
  }

  /** Returns a row of the record for each class. */
  private static String passesInAJvm(List<Class<?>> classes) throws Exception {
    String output = Natives.run(commandLine(classes));

    assertThat(output).contains("sanitizer: true").doesNotContain("runtime error");
    List<String> rows = new ArrayList<>();
    for (Class<?> type : classes) {
      rows.add(row(type, output));
    }
    return rows.stream().collect(Collectors.joining());
  }

  private static String row(Class<?> type, String output) {
    var counts =
        COUNTS
            .matcher(output)
            .results()
            .filter(line -> line.group(5).equals(type.getSimpleName()))
            .findAny()
            .orElseThrow(() -> new AssertionError(type.getSimpleName() + ": did not run"));
    int run = Integer.parseInt(counts.group(1));
    int failed = Integer.parseInt(counts.group(2));
    int passed = run - failed - Integer.parseInt(counts.group(3));
    assertThat(failed).as("failures of %s", type).isZero();
    assertThat(passed)
        .as("tests of %s that passed", type)
        .isGreaterThanOrEqualTo(FakeDeviceTck.class.isAssignableFrom(type) ? FEWEST_TESTS : 1);
    return "| %s | address, undefined behaviour | %d | %d | %d | %d | %s |\n"
        .formatted(
            type.getSimpleName(), run, passed, failed, run - passed - failed, counts.group(4));
  }

  private static List<String> commandLine(List<Class<?>> classes) throws Exception {
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
    classes.forEach(type -> line.add(type.getName()));
    return line;
  }
}
