// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import java.lang.ref.Cleaner;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An object that the program must close, and the place where the program created it. An object that
 * is still open is reported when it is garbage, when it keeps its device from closing, when a
 * {@link FindingCollector} finishes, and when the JVM ends.
 */
final class TrackedObject {
  private static final Cleaner CLEANER = Cleaner.create();
  private static final Set<TrackedObject> OPEN = ConcurrentHashMap.newKeySet();
  private static final AtomicLong NUMBERS = new AtomicLong();

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(TrackedObject::reportAtEnd, "verbena-sanitizer-at-end"));
  }

  final long number = NUMBERS.incrementAndGet();
  private final WatchedDevice device;
  private final String what;
  private final CallSite place;
  private Cleaner.@Nullable Cleanable loss;
  private volatile boolean closed;

  private TrackedObject(WatchedDevice device, String what, CallSite place) {
    this.device = device;
    this.what = what;
    this.place = place;
  }

  /** Starts to watch an object that was created at {@code place}. */
  static TrackedObject of(Object object, WatchedDevice device, String what, CallSite place) {
    TrackedObject tracked = new TrackedObject(device, what, place);
    tracked.loss = CLEANER.register(object, tracked::lost);
    OPEN.add(tracked);
    return tracked;
  }

  /** Returns the number of the object that was created last. */
  static long latest() {
    return NUMBERS.get();
  }

  CallSite place() {
    return place;
  }

  boolean isOpen() {
    return !closed;
  }

  /** Notes that the object was closed. */
  void closed() {
    closed = true;
    OPEN.remove(this);
    if (loss != null) {
      loss.clean();
    }
  }

  private void lost() {
    if (OPEN.remove(this)) {
      deliver(finding("is garbage now"));
    }
  }

  private Finding finding(String when) {
    return Finding.at(
        Finding.Kind.NEVER_CLOSED, place, what + ": never closed, and " + when + "; created");
  }

  /** Returns a finding for each open object of a device, except the device itself. */
  static List<Finding> openOf(WatchedDevice device) {
    return findings(
        tracked -> tracked.device == device && tracked != device.tracked(),
        "its device is being closed");
  }

  /**
   * Returns a finding for each open object that was created after object {@code number}, and stops
   * watching these objects.
   */
  static List<Finding> takeOpenSince(long number) {
    List<Finding> found = findings(tracked -> tracked.number > number, "the test is over");
    OPEN.removeIf(tracked -> tracked.number > number);
    return found;
  }

  private static List<Finding> findings(Predicate<TrackedObject> which, String when) {
    return OPEN.stream()
        .filter(which)
        .sorted(Comparator.comparingLong(tracked -> tracked.number))
        .map(tracked -> tracked.finding(when))
        .toList();
  }

  private static void reportAtEnd() {
    findings(tracked -> true, "the program is at its end").forEach(TrackedObject::deliver);
  }

  private static void deliver(Finding finding) {
    Report report = new Report();
    report.add(finding);
    report.deliver(false);
  }
}
