// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.EngineExecutionListener;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.reporting.ReportEntry;

/**
 * Replays the guest's events to a listener on the host, about the mirrors of its tests, and settles
 * what the guest left open. Used by one thread.
 */
final class EventReplay {
  private final List<TestDescriptor> classes;
  private final EngineExecutionListener listener;
  private final Map<String, TestDescriptor> known = new HashMap<>();
  private final Set<TestDescriptor> started = new HashSet<>();
  private final Set<TestDescriptor> ended = new HashSet<>();
  private boolean ready;
  private boolean done;

  /** The end of a class, kept back: the last one waits for the guest's exit code. */
  private @Nullable TestDescriptor endingClass;

  private TestExecutionResult endingResult = TestExecutionResult.successful();

  /** The reason why no more tests will end, once the guest's engine has failed. */
  private @Nullable Throwable engineFailure;

  EventReplay(List<TestDescriptor> classes, EngineExecutionListener listener) {
    this.classes = classes;
    this.listener = listener;
    for (TestDescriptor each : classes) {
      each.accept((TestDescriptor test) -> known.put(originalId(test), test));
    }
  }

  /** Skips what is not to run, before all else. */
  void leaveOut() {
    for (TestDescriptor each : classes) {
      for (TestDescriptor test : each.getChildren()) {
        if (test instanceof MirroredTest mirror && mirror.whyLeftOut() != null) {
          skip(mirror, mirror.whyLeftOut());
        }
      }
    }
  }

  boolean isReady() {
    return ready;
  }

  boolean isDone() {
    return done;
  }

  /**
   * Returns the failure of the guest's engine, or null: it is returned once, and not for each test.
   */
  @Nullable Throwable engineFailure() {
    return engineFailure;
  }

  void accept(GuestEvent event) {
    if (!(event instanceof GuestEvent.Done)) {
      endClass();
    }
    if (event instanceof GuestEvent.Ready) {
      ready = true;
    } else if (event instanceof GuestEvent.Done) {
      done = true;
    } else if (event instanceof GuestEvent.EngineFailed failed) {
      engineFailure = failed.thrown().toThrowable();
    } else if (event instanceof GuestEvent.Registered registered) {
      var test = new MirroredTest(registered.test());
      find(registered.parent()).addChild(test);
      known.put(registered.test().getUniqueId(), test);
      listener.dynamicTestRegistered(test);
    } else if (event instanceof GuestEvent.Started begun) {
      start(find(begun.test()));
    } else if (event instanceof GuestEvent.Finished finished) {
      TestDescriptor test = find(finished.test());
      if (isClass(test)) {
        endingClass = test;
        endingResult = result(finished);
      } else {
        finish(test, result(finished));
      }
    } else if (event instanceof GuestEvent.Skipped skipped) {
      skip(find(skipped.test()), skipped.reason());
    } else if (event instanceof GuestEvent.Reported reported) {
      listener.reportingEntryPublished(find(reported.test()), ReportEntry.from(reported.entries()));
    }
  }

  /** Takes the guest's end for a good one. */
  void conclude() {
    endClass();
    failRest("the guest has not reported how this ended");
  }

  private boolean isClass(TestDescriptor test) {
    return classes.contains(test)
        || test.getParent().filter(PackagesClass.class::isInstance).isPresent();
  }

  private void endClass() {
    if (endingClass != null) {
      finish(endingClass, endingResult);
      endingClass = null;
    }
  }

  /**
   * Fails every test that has not ended, started or not, for the given reason; a container, if all
   * its tests have ended; and the last class, if it has too: what breaks when the JVM ends belongs
   * to no other.
   */
  void failRest(String reason) {
    if (endingClass != null && endingResult.getStatus() == Status.SUCCESSFUL) {
      endingResult = TestExecutionResult.failed(new GuestException(reason));
    }
    endClass();
    for (TestDescriptor each : classes) {
      failRest(each, new GuestException(reason));
    }
  }

  /** Returns whether it failed the test, or one below it. */
  private boolean failRest(TestDescriptor test, GuestException reason) {
    if (ended.contains(test)) {
      return false;
    }
    start(test);
    boolean told = false;
    for (TestDescriptor each : List.copyOf(test.getChildren())) {
      told |= failRest(each, reason);
    }
    // One failure per test; a container's own would be counted as one more.
    finish(test, told ? TestExecutionResult.successful() : TestExecutionResult.failed(reason));
    return true;
  }

  /** Skips every test that has not ended; what has started ends. */
  void skipRest(String reason) {
    endClass();
    for (TestDescriptor each : classes) {
      skipRest(each, reason);
    }
  }

  private void skipRest(TestDescriptor test, String reason) {
    if (ended.contains(test)) {
      return;
    }
    if (test.getChildren().isEmpty()) {
      if (started.contains(test)) {
        finish(test, TestExecutionResult.aborted(new GuestException(reason)));
      } else {
        skip(test, reason);
      }
      return;
    }
    start(test);
    for (TestDescriptor each : List.copyOf(test.getChildren())) {
      skipRest(each, reason);
    }
    finish(test, TestExecutionResult.successful());
  }

  private void start(TestDescriptor test) {
    if (started.add(test)) {
      startPackages(test);
      listener.executionStarted(test);
    }
  }

  private void finish(TestDescriptor test, TestExecutionResult result) {
    if (ended.add(test)) {
      listener.executionFinished(test, result);
      endPackages(test);
    }
  }

  /**
   * Starts the descriptors of packages with the first of their classes; the guest knows nothing of
   * them.
   */
  private void startPackages(TestDescriptor test) {
    test.getParent().filter(PackagesClass.class::isInstance).ifPresent(this::start);
  }

  /** And it ends with the last. */
  private void endPackages(TestDescriptor test) {
    test.getParent()
        .filter(PackagesClass.class::isInstance)
        .filter(packages -> ended.containsAll(packages.getChildren()))
        .ifPresent(packages -> finish(packages, TestExecutionResult.successful()));
  }

  private void skip(TestDescriptor test, String reason) {
    startPackages(test);
    // With all that is under it, of which the guest says nothing.
    test.accept((TestDescriptor each) -> ended.add(each));
    listener.executionSkipped(test, reason);
    endPackages(test);
  }

  private TestDescriptor find(String originalId) {
    TestDescriptor test = known.get(originalId);
    if (test == null) {
      throw new IllegalStateException("the guest reports an unknown test: " + originalId);
    }
    return test;
  }

  private static TestExecutionResult result(GuestEvent.Finished finished) {
    Throwable thrown = finished.thrown() == null ? null : finished.thrown().toThrowable();
    if (finished.status() == Status.SUCCESSFUL) {
      return TestExecutionResult.successful();
    }
    return finished.status() == Status.ABORTED
        ? TestExecutionResult.aborted(thrown)
        : TestExecutionResult.failed(thrown);
  }

  private static String originalId(TestDescriptor test) {
    return Jupiter.fromOurs(test.getUniqueId().toString());
  }
}
