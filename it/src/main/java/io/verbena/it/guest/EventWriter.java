// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.Map;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.reporting.ReportEntry;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/** In the guest, writes down what happens to the tests, each event at once. Any thread may call. */
final class EventWriter implements TestExecutionListener {
  private final Writer out;
  private volatile long lastEvent = System.nanoTime();

  EventWriter(Writer out) {
    this.out = out;
  }

  @Override
  public void dynamicTestRegistered(TestIdentifier test) {
    write(new GuestEvent.Registered(test.getParentId().orElseThrow(), test));
  }

  @Override
  public void executionStarted(TestIdentifier test) {
    if (!isEngine(test)) {
      write(new GuestEvent.Started(test.getUniqueId()));
    }
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    write(new GuestEvent.Skipped(test.getUniqueId(), reason));
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (!isEngine(test)) {
      write(
          new GuestEvent.Finished(
              test.getUniqueId(),
              result.getStatus(),
              result.getThrowable().map(ThrownInGuest::of).orElse(null)));
    } else {
      result
          .getThrowable()
          .ifPresent(thrown -> write(new GuestEvent.EngineFailed(ThrownInGuest.of(thrown))));
    }
  }

  @Override
  public void reportingEntryPublished(TestIdentifier test, ReportEntry entry) {
    write(new GuestEvent.Reported(test.getUniqueId(), Map.copyOf(entry.getKeyValuePairs())));
  }

  /** Returns when the last event was written, as {@link System#nanoTime()}. */
  long lastEvent() {
    return lastEvent;
  }

  synchronized void write(GuestEvent event) {
    lastEvent = System.nanoTime();
    try {
      out.write(event.toLine() + "\n");
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("event: " + event, e);
    }
  }

  private static boolean isEngine(TestIdentifier test) {
    return test.getParentId().isEmpty();
  }
}
