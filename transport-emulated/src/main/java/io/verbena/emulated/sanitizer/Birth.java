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
final class Birth {
  private static final Cleaner CLEANER = Cleaner.create();
  private static final Set<Birth> OPEN = ConcurrentHashMap.newKeySet();
  private static final AtomicLong NUMBERS = new AtomicLong();

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(Birth::reportAtEnd, "verbena-sanitizer-at-end"));
  }

  final long number = NUMBERS.incrementAndGet();
  private final DeviceLog device;
  private final String what;
  private final CallSite place;
  private Cleaner.@Nullable Cleanable loss;
  private volatile boolean closed;

  private Birth(DeviceLog device, String what, CallSite place) {
    this.device = device;
    this.what = what;
    this.place = place;
  }

  /** Starts to watch an object that was created at {@code place}. */
  static Birth of(Object object, DeviceLog device, String what, CallSite place) {
    Birth birth = new Birth(device, what, place);
    birth.loss = CLEANER.register(object, birth::lost);
    OPEN.add(birth);
    return birth;
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
      tell(finding("is garbage now"));
    }
  }

  private Finding finding(String when) {
    return Finding.at(
        Finding.Kind.NEVER_CLOSED, place, what + ": never closed, and " + when + "; created");
  }

  /** Returns a finding for each open object of a device, except the device itself. */
  static List<Finding> openOf(DeviceLog device) {
    return findings(
        birth -> birth.device == device && birth != device.birth(), "its device is being closed");
  }

  /**
   * Returns a finding for each open object that was created after object {@code number}, and stops
   * watching these objects.
   */
  static List<Finding> takeOpenSince(long number) {
    List<Finding> found = findings(birth -> birth.number > number, "the test is over");
    OPEN.removeIf(birth -> birth.number > number);
    return found;
  }

  private static List<Finding> findings(Predicate<Birth> which, String when) {
    return OPEN.stream()
        .filter(which)
        .sorted(Comparator.comparingLong(birth -> birth.number))
        .map(birth -> birth.finding(when))
        .toList();
  }

  private static void reportAtEnd() {
    findings(birth -> true, "the program is at its end").forEach(Birth::tell);
  }

  private static void tell(Finding finding) {
    Report report = new Report();
    report.add(finding);
    report.tell(false);
  }
}
