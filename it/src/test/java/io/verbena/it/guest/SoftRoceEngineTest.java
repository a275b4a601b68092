// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;
import static org.junit.platform.testkit.engine.EventConditions.abortedWithReason;
import static org.junit.platform.testkit.engine.EventConditions.container;
import static org.junit.platform.testkit.engine.EventConditions.displayName;
import static org.junit.platform.testkit.engine.EventConditions.engine;
import static org.junit.platform.testkit.engine.EventConditions.event;
import static org.junit.platform.testkit.engine.EventConditions.finishedSuccessfully;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.EventConditions.skippedWithReason;
import static org.junit.platform.testkit.engine.EventConditions.test;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.cause;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.instanceOf;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

import io.verbena.it.Program;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.Condition;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestTag;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;
import org.junit.platform.testkit.engine.EventType;

/** Tests the engine with two guests, and with a script instead of a guest where none is needed. */
@Tag("once")
@Timeout(SoftRoceEngineTest.GUEST_SECONDS)
class SoftRoceEngineTest {
  /** A guest boots within seconds, or within minutes on a busy machine. */
  static final int GUEST_SECONDS = 400;

  /** The files of a guest may have to be fetched and built first, by this process or another. */
  private static final int CHECK_SECONDS = 800;

  private static final int CHECKED_GUEST_SECONDS = CHECK_SECONDS + GUEST_SECONDS;

  private static final String SKIP = "VERBENA_NO_GUEST";

  /** A script that runs the tests' JVM on this machine. */
  private static final Path IN_PLACE_OF_A_GUEST =
      Path.of("src/test/resources/io/verbena/it/guest/in-place-of-a-guest").toAbsolutePath();

  @TempDir Path results;

  @Test
  void discoversMarkedClassesAlone() {
    var found =
        EngineTestKit.engine(new SoftRoceEngine())
            .selectors(selectClass(Fixtures.Deadly.class), selectClass(Fixtures.ForTheHost.class))
            .discover()
            .getEngineDescriptor();
    assertThat(found.getChildren())
        .singleElement()
        .satisfies(
            deadly -> {
              assertThat(deadly.getUniqueId().toString())
                  .isEqualTo("[engine:soft-roce]/[class:io.verbena.it.guest.Fixtures$Deadly]");
              assertThat(deadly.getChildren()).hasSize(3);
            });
  }

  @Test
  @Tag("exhaustive")
  @Timeout(CHECKED_GUEST_SECONDS)
  void reportsEveryKindOfTestAsItWentInTheGuest() throws Exception {
    assumeGuest();
    EngineExecutionResults run =
        run(
            new SoftRoceEngine(),
            selectClass(Fixtures.EveryKind.class),
            selectClass(Fixtures.WholePackage.class));
    run.testEvents()
        .assertStatistics(
            statistics -> statistics.started(13).succeeded(8).failed(4).aborted(1).skipped(2));
    run.testEvents()
        .assertThatEvents()
        .haveExactly(1, event(test("method:passes("), finishedSuccessfully()))
        .haveExactly(
            1,
            event(
                test("method:fails("),
                finishedWithFailure(
                    instanceOf(GuestFailure.class), message(text -> text.contains("[one]")))))
        .haveExactly(
            1,
            event(
                test("method:breaks("),
                finishedWithFailure(
                    instanceOf(GuestException.class),
                    message("java.lang.IllegalStateException: broken"),
                    cause(message("java.io.IOException: the cause")))))
        .haveExactly(
            1,
            event(
                test("method:aborts("),
                abortedWithReason(message(text -> text.contains("not today")))))
        .haveExactly(2, event(test("method:isSkipped("), skippedWithReason("not yet")))
        .haveExactly(2, event(test("test-template-invocation:#2"), finishedWithFailure()))
        .haveExactly(3, event(test("test-template-invocation:"), finishedSuccessfully()))
        .haveExactly(2, event(test("dynamic-test:"), finishedSuccessfully()))
        .haveExactly(1, event(displayName("passesToo()"), finishedSuccessfully()));
    run.allEvents().reportingEntryPublished().assertThatEvents().hasSize(1);
    Throwable broken =
        run.testEvents()
            .failed()
            .filter(each -> each.getTestDescriptor().getDisplayName().equals("breaks()"))
            .findFirst()
            .flatMap(each -> each.getRequiredPayload(TestExecutionResult.class).getThrowable())
            .orElseThrow();
    assertThat(broken.getStackTrace()[0].getMethodName()).isEqualTo("breaks");
    run.allEvents()
        .assertThatEvents()
        .haveExactly(1, event(container("LeftBehind"), skippedWithReason("not for the guest")))
        .haveExactly(1, event(test("passesInTheGuest"), finishedSuccessfully()))
        .haveExactly(1, event(container(Fixtures.WholePackage.class), finishedSuccessfully()));
  }

  @Test
  void discoversPackagesUnderTheClassThatStandsForThem() {
    var found =
        EngineTestKit.engine(new SoftRoceEngine())
            .selectors(selectClass(Fixtures.WholePackage.class))
            .discover()
            .getEngineDescriptor();
    assertThat(found.getChildren())
        .singleElement()
        .satisfies(
            each ->
                assertThat(each.getChildren())
                    .extracting(TestDescriptor::getDisplayName)
                    .containsExactlyInAnyOrder("Packaged", "LeftBehind"));
  }

  @Test
  void refusesToLeaveOutWhatIsGone() {
    EngineTestKit.Builder kit =
        EngineTestKit.engine(new SoftRoceEngine())
            .selectors(selectClass(Fixtures.LeavesOutWhatIsGone.class));
    assertThatThrownBy(kit::execute)
        .rootCause()
        .hasMessageContaining("left out: [io.verbena.it.guest.packaged.Gone]");
  }

  @Test
  void leavesOutNothingThatIsNotAskedFor() {
    var found =
        EngineTestKit.engine(new SoftRoceEngine())
            .selectors(selectClass(Fixtures.LeavesOutWhatIsGone.class))
            .filters(ClassNameFilter.includeClassNamePatterns(".*LeavesOut.*", ".*Packaged"))
            .discover()
            .getEngineDescriptor();
    assertThat(found.getChildren())
        .singleElement()
        .satisfies(
            each ->
                assertThat(each.getChildren())
                    .extracting(TestDescriptor::getDisplayName)
                    .containsExactly("Packaged"));
  }

  @Test
  void givesTestsOfPackagesTheTagsOfTheClassThatStandsForThem() {
    var found =
        EngineTestKit.engine(new SoftRoceEngine())
            .selectors(selectClass(Fixtures.WholePackage.class))
            .discover()
            .getEngineDescriptor();
    assertThat(found.getDescendants())
        .filteredOn(TestDescriptor::isTest)
        .isNotEmpty()
        .allSatisfy(
            each ->
                assertThat(each.getTags())
                    .contains(TestTag.create("whole"), TestTag.create(InSoftRoceGuest.TAG)));
  }

  @Test
  void runsOneSelectedMethodAlone() {
    EngineExecutionResults run =
        run(withoutGuest(Map.of()), selectMethod(Fixtures.EveryKind.class, "isDynamic"));
    run.testEvents().assertStatistics(statistics -> statistics.started(2).succeeded(2));
  }

  @Test
  @Tag("exhaustive")
  @Timeout(CHECKED_GUEST_SECONDS)
  void failsWhatADyingGuestLeavesOpen() throws Exception {
    assumeGuest("--on", "qemu");
    EngineExecutionResults run = run(new SoftRoceEngine(), selectClass(Fixtures.Deadly.class));
    // These assertions print the actual events, with the guest's console; the statistics do not.
    run.testEvents()
        .assertThatEvents()
        .haveExactly(1, event(test("endsBefore"), finishedSuccessfully()))
        .haveExactly(1, event(test("crashesTheKernel"), finishedWithFailure(guestDied())))
        .haveExactly(1, event(test("wouldComeAfter"), finishedWithFailure(guestDied())));
    run.testEvents().assertStatistics(statistics -> statistics.started(3).succeeded(1).failed(2));
  }

  /** Skips the test where {@code bin/soft-roce} reports that it cannot run. */
  private static void assumeGuest(String... options) throws IOException, InterruptedException {
    var line = new ArrayList<String>(List.of(GuestCommand.ofThisJvm().script().toString()));
    line.addAll(List.of(options));
    line.add("--check");
    try (Program check = Program.start(line)) {
      int status = check.exitCode(Duration.ofSeconds(CHECK_SECONDS));
      assumeTrue(status != 77, check.output());
      assertThat(status).as(check.output()).isZero();
    }
  }

  private static Condition<Throwable> guestDied() {
    return message(
        text ->
            text.contains("exit code 125")
                && text.contains("the guest died")
                && text.contains("Kernel panic"));
  }

  @Test
  void failsWhatAnEndingJvmLeavesOpen() {
    EngineExecutionResults run = run(withoutGuest(Map.of()), selectClass(Fixtures.Quitter.class));
    run.testEvents()
        .assertThatEvents()
        .haveExactly(
            1,
            event(
                test("quits"),
                finishedWithFailure(message(text -> text.contains("exit code 0 before")))));
  }

  @Test
  void failsTheClassAfterWhichTheJvmEndsBadly() {
    EngineExecutionResults run = run(withoutGuest(Map.of()), selectClass(Fixtures.BadEnd.class));
    run.testEvents().assertStatistics(statistics -> statistics.succeeded(1).failed(0));
    run.containerEvents()
        .assertThatEvents()
        .haveExactly(
            1,
            event(
                container(Fixtures.BadEnd.class),
                finishedWithFailure(message(text -> text.contains("exit code 3 after")))));
  }

  @Test
  void failsTheClassInWhoseCleanUpTheJvmEnds() {
    EngineExecutionResults run =
        run(withoutGuest(Map.of()), selectClass(Fixtures.EndsInCleanUp.class));
    run.testEvents().assertStatistics(statistics -> statistics.succeeded(1).failed(0));
    run.containerEvents()
        .assertThatEvents()
        .haveExactly(
            1,
            event(
                container(Fixtures.EndsInCleanUp.class),
                finishedWithFailure(message(text -> text.contains("exit code 3 before")))));
  }

  @Test
  void failsTheTestBetweenWhoseInvocationsTheJvmEnds() {
    EngineExecutionResults run =
        run(withoutGuest(Map.of()), selectClass(Fixtures.EndsBetweenInvocations.class));
    run.testEvents().assertStatistics(statistics -> statistics.succeeded(1).failed(0));
    run.containerEvents()
        .assertThatEvents()
        .haveExactly(
            1,
            event(
                container("isDynamic"),
                finishedWithFailure(message(text -> text.contains("exit code 3 before")))))
        .haveExactly(
            1, event(container(Fixtures.EndsBetweenInvocations.class), finishedSuccessfully()));
  }

  @Test
  void endsWhatHangsAndTellsWhere() {
    EngineExecutionResults run =
        run(withoutGuest(Map.of()), "30", selectClass(Fixtures.Hanging.class));
    run.testEvents()
        .assertThatEvents()
        .haveExactly(
            1,
            event(
                test("neverEnds"),
                finishedWithFailure(
                    message(
                        text ->
                            text.contains("exit code 86 before")
                                && text.contains("Fixtures$Hanging.neverEnds")))));
  }

  @Test
  void failsOnceWithTheCauseWhereJupiterFails() {
    EngineExecutionResults run =
        run(
            withoutGuest(Map.of("VERBENA_HIDDEN", "assertj-core")),
            selectClass(Fixtures.NeedsAnotherJar.class),
            selectClass(Fixtures.Quitter.class));
    run.testEvents().assertStatistics(statistics -> statistics.started(0).failed(0).skipped(2));
    run.containerEvents()
        .failed()
        .assertThatEvents()
        .singleElement()
        .satisfies(
            failed ->
                assertThat(failed.getTestDescriptor().getUniqueId().toString())
                    .isEqualTo("[engine:soft-roce]"))
        .satisfies(
            failed ->
                assertThat(failed.getRequiredPayload(TestExecutionResult.class).getThrowable())
                    .get(InstanceOfAssertFactories.THROWABLE)
                    .hasMessageContaining("Fixtures$NeedsAnotherJar")
                    .hasMessageContaining("org/assertj/core/api/SoftAssertions"));
  }

  @Test
  void failsWithTheErrorThatEndsJupiterWithAThreadLeftBehind() {
    EngineExecutionResults run =
        run(withoutGuest(Map.of()), "30", selectClass(Fixtures.Unrecoverable.class));
    run.containerEvents()
        .assertThatEvents()
        .haveExactly(
            1, event(engine(), finishedWithFailure(message(text -> text.contains("as it seems")))));
  }

  @Test
  void skipsAllWhereNoGuestCanRun() {
    var command = GuestCommand.ofThisJvm();
    var nowhere = new SoftRoceEngine(new GuestCommand(command.script(), Map.of(SKIP, "true")));
    var printed = new ByteArrayOutputStream();
    PrintStream out = System.out;
    EngineExecutionResults run;
    System.setOut(new PrintStream(printed, true, Charset.defaultCharset()));
    try {
      run = run(nowhere, selectClass(Fixtures.Deadly.class));
    } finally {
      System.setOut(out);
    }
    assertThat(printed.toString(Charset.defaultCharset()))
        .contains("*** SKIPPED, NOT TESTED HERE: 1 classes");
    run.testEvents().assertStatistics(statistics -> statistics.started(0).skipped(3).failed(0));
    List<Event> skipped =
        run.testEvents().filter(each -> each.getType() == EventType.SKIPPED).toList();
    assertThat(skipped)
        .allSatisfy(
            each ->
                assertThat(each.getRequiredPayload(String.class))
                    .contains("cannot run here")
                    .contains(SKIP));
  }

  private static SoftRoceEngine withoutGuest(Map<String, String> environment) {
    return new SoftRoceEngine(new GuestCommand(IN_PLACE_OF_A_GUEST, environment));
  }

  private EngineExecutionResults run(SoftRoceEngine engine, DiscoverySelector... selectors) {
    return run(engine, "300", selectors);
  }

  private EngineExecutionResults run(
      SoftRoceEngine engine, String stallSeconds, DiscoverySelector... selectors) {
    return EngineTestKit.engine(engine)
        .configurationParameter(GuestRun.RESULTS, results.toString())
        .configurationParameter(GuestRun.TIMEOUT, "300")
        .configurationParameter(GuestRequest.STALL, stallSeconds)
        .selectors(selectors)
        .execute();
  }
}
