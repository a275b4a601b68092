// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.commons.support.ReflectionSupport;

/**
 * Runs the TCK and the fault tests on the fake rdma-core with the native libraries built for each
 * {@link Sanitizer}. Any report of a sanitizer ends the program.
 */
@Tag(FakeRdmaCore.TAG)
@Tag("once")
final class SanitizedTest {
  /**
   * The file in which {@code bin/suite rnics} records the results of each device, which then runs
   * alone in its JVM. If null, two devices and all faults share one JVM for each sanitizer.
   */
  private static final @Nullable String RECORD = System.getProperty("verbena.sanitized.record");

  /** Least number of TCK classes, so that a class that is not found fails the test. */
  private static final int DEVICES = 11;

  private static final int FEWEST_TESTS = 500;

  /**
   * The two devices for which the native libraries do the most different work; each build tests
   * them. A ConnectX is driven by attributes as well as by rdma_cm, supports moderation, resizing
   * and reregistration, and negotiates ECE. Soft-iWARP has none of these, hides states, and does
   * not flush late requests.
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

  /**
   * A line of {@link SanitizedVerbs}: class, and numbers of tests that ran, failed and were
   * skipped.
   */
  private static final Pattern COUNTS =
      Pattern.compile(
          "(?m)^Tests run: (\\d+), Failures: (\\d+), Skipped: (\\d+), Time elapsed: (\\S+) s"
              + " -- in (\\w+)$");

  @TempDir private Path folder;

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("programs")
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void theTckAndDevicesThatFail(Sanitizer sanitizer, List<Class<?>> classes) throws Exception {
    sanitizer.assumeBuilt(folder);

    String rows = passesInAJvm(sanitizer, classes);

    if (RECORD != null) {
      Files.writeString(
          Path.of(RECORD), rows, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
  }

  /** Returns the classes that share each JVM. */
  static List<Arguments> programs() {
    List<List<Class<?>>> programs = RECORD == null ? shortPrograms() : allPrograms();
    return Stream.of(Sanitizer.values())
        .flatMap(sanitizer -> programs.stream().map(classes -> arguments(sanitizer, classes)))
        .toList();
  }

  private static List<List<Class<?>>> shortPrograms() {
    return List.of(Stream.concat(MOST_DIFFERENT.stream(), FAULTS.stream()).toList());
  }

  private static List<List<Class<?>>> allPrograms() {
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

  @Test
  void theThreadSanitizerSeesWhatTwoNativeCallsDoAtTheSameTime() throws Exception {
    Sanitizer.THREAD.assumeBuilt(folder);

    assertThatThrownBy(() -> Sanitizer.THREAD.run(OverlappingCalls.class, List.of("together")))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("ThreadSanitizer: data race");
  }

  @Test
  void theThreadSanitizerReportsNothingThatALockOfJavaGuards() throws Exception {
    Sanitizer.THREAD.assumeBuilt(folder);

    assertThat(Sanitizer.THREAD.run(OverlappingCalls.class, List.of())).endsWith("ended\n");
  }

  /** Runs the classes in one JVM; returns a row of the record for each class. */
  private static String passesInAJvm(Sanitizer sanitizer, List<Class<?>> classes) throws Exception {
    String output =
        sanitizer.run(SanitizedVerbs.class, classes.stream().map(Class::getName).toList());

    assertThat(output).contains("sanitizers: [" + sanitizer + "]").doesNotContain("runtime error");
    List<String> rows = new ArrayList<>();
    for (Class<?> type : classes) {
      rows.add(row(sanitizer, type, output));
    }
    return rows.stream().collect(Collectors.joining());
  }

  private static String row(Sanitizer sanitizer, Class<?> type, String output) {
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
    return "| %s | %s | %d | %d | %d | %d | %s |\n"
        .formatted(
            type.getSimpleName(),
            sanitizer,
            run,
            passed,
            failed,
            run - passed - failed,
            counts.group(4));
  }
}
