// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Test classes for the engine to run in the guest. They are nested, so that Surefire does not run
 * them.
 */
final class Fixtures {
  private Fixtures() {}

  /** One test of each kind and outcome. */
  @InSoftRoceGuest
  static final class EveryKind {
    @Test
    void passes(TestReporter reporter) throws IOException {
      assertThat(Files.readString(Path.of("/proc/sys/kernel/hostname")))
          .startsWith("verbena-guest");
      reporter.publishEntry("seen", "in the guest");
      System.out.println("printed in the guest");
    }

    @Test
    void fails() {
      assertThat(1).as("one").isEqualTo(2);
    }

    @Test
    @SuppressWarnings("DoNotCallSuggester")
    void breaks() {
      throw new IllegalStateException("broken", new IOException("the cause"));
    }

    @Test
    void aborts() {
      assumeTrue(false, "not today");
    }

    @Test
    @Disabled("not yet")
    void isSkipped() {}

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void isParameterized(int number) {
      assertThat(number).isNotEqualTo(2);
    }

    @TestFactory
    Stream<DynamicTest> isDynamic() {
      return Stream.of("a", "b").map(name -> DynamicTest.dynamicTest(name, () -> {}));
    }

    @Nested
    final class Inside {
      @Test
      void passesToo() {}
    }
  }

  /** Stands for a package. */
  @Tag("whole")
  @InSoftRoceGuest(
      packages = "io.verbena.it.guest.packaged",
      without =
          @LeftOut(tests = "io.verbena.it.guest.packaged.LeftBehind", reason = "not for the guest"))
  static final class WholePackage {}

  /** Excludes a class that no longer exists. */
  @InSoftRoceGuest(
      packages = "io.verbena.it.guest.packaged",
      without = @LeftOut(tests = "io.verbena.it.guest.packaged.Gone", reason = "long ago"))
  static final class LeavesOutWhatIsGone {}

  /** Crashes the guest in the middle of a test, as a kernel bug would. */
  @InSoftRoceGuest(machine = GuestMachine.QEMU)
  @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
  static final class Deadly {
    @Test
    @Order(1)
    void endsBefore() {}

    @Test
    @Order(2)
    void crashesTheKernel() throws IOException, InterruptedException {
      Files.writeString(Path.of("/proc/sysrq-trigger"), "c");
      new CountDownLatch(1).await();
    }

    @Test
    @Order(3)
    void wouldComeAfter() {}
  }

  /** Ends the guest's JVM in the middle, with the exit code of success. */
  @InSoftRoceGuest
  static final class Quitter {
    @Test
    void quits() {
      System.exit(0);
    }
  }

  /** All tests pass, but the JVM ends with an error, as under a sanitizer that found a leak. */
  @InSoftRoceGuest
  static final class BadEnd {
    @Test
    void passes() {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(3)));
    }
  }

  /** All tests pass, but the JVM ends before the class does, as when a clean-up crashes it. */
  @InSoftRoceGuest
  static final class EndsInCleanUp {
    @Test
    void passes() {}

    @AfterAll
    static void cleanUp() {
      Runtime.getRuntime().halt(3);
    }
  }

  /** The JVM ends between two invocations of a test. */
  @InSoftRoceGuest
  static final class EndsBetweenInvocations {
    @TestFactory
    Stream<DynamicTest> isDynamic() {
      return Stream.of(1, 2)
          .peek(
              number -> {
                if (number == 2) {
                  Runtime.getRuntime().halt(3);
                }
              })
          .map(number -> DynamicTest.dynamicTest("number " + number, () -> {}));
    }
  }

  /** Throws an error that ends Jupiter, and leaves a thread behind. */
  @InSoftRoceGuest
  static final class Unrecoverable {
    @Test
    void breaksJupiter() {
      new Thread(LockSupport::park, "left behind").start();
      throw new OutOfMemoryError("as it seems");
    }
  }

  /** Hangs and ignores interrupts. */
  @InSoftRoceGuest
  static final class Hanging {
    @Test
    void neverEnds() {
      while (true) {
        LockSupport.park();
      }
    }
  }

  /** Cannot be loaded without another jar, as a test whose base class is in another module. */
  @InSoftRoceGuest
  static final class NeedsAnotherJar {
    @Test
    void wouldPass() {}

    static SoftAssertions fromAnotherJar() {
      return new SoftAssertions();
    }
  }

  /** A test without the engine's annotation, which only Jupiter runs. */
  static final class ForTheHost {
    @Test
    void isNotForTheGuest() {}
  }
}
