// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import static java.util.Objects.requireNonNull;

import io.verbena.emulated.hca.FailureLog;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * Distributes the findings of this JVM to all registered sinks, or to standard error while no sink
 * is registered. Thread-safe.
 *
 * <p>{@code -Dverbena.sanitizer.ignore=KIND,KIND} suppresses kinds of findings.
 */
public final class Findings {
  /** The system property that names the kinds to suppress, separated by commas. */
  public static final String IGNORE = "verbena.sanitizer.ignore";

  private static final Set<Finding.Kind> IGNORED = parse(System.getProperty(IGNORE, ""));
  private static final CopyOnWriteArrayList<Registration> SINKS = new CopyOnWriteArrayList<>();
  private static final ConsoleSink CONSOLE = new ConsoleSink(Findings::print);
  private static final AtomicLong COUNT = new AtomicLong();

  private Findings() {}

  /** The registration of a sink. {@link #close} removes the sink; a second call does nothing. */
  public interface Listening extends AutoCloseable {
    @Override
    void close();
  }

  /** Has an identity of its own, as one sink may be registered twice. */
  private static final class Registration implements Listening {
    private final FindingSink sink;

    private Registration(FindingSink sink) {
      this.sink = sink;
    }

    @Override
    public void close() {
      SINKS.remove(this);
    }
  }

  /**
   * Calls {@code sink} for all findings from now on, until the returned registration is closed.
   * Meanwhile nothing is printed to standard error.
   */
  public static Listening listen(FindingSink sink) {
    requireNonNull(sink, "sink");
    Registration registration = new Registration(sink);
    SINKS.add(registration);
    return registration;
  }

  /** Returns the number of findings in this JVM, repetitions included. */
  public static long count() {
    return COUNT.get();
  }

  static boolean isIgnored(Finding.Kind kind) {
    return IGNORED.contains(kind);
  }

  static void deliver(Finding finding) {
    COUNT.incrementAndGet();
    boolean delivered = false;
    for (Registration registration : SINKS) {
      delivered = true;
      try {
        registration.sink.found(finding);
      } catch (RuntimeException | Error e) {
        FailureLog.get().failed(e);
      }
    }
    if (!delivered) {
      CONSOLE.found(finding);
    }
  }

  @SuppressWarnings("SystemOut") // Users look for a sanitizer's reports on standard error.
  private static void print(String text) {
    System.err.println(text);
  }

  private static Set<Finding.Kind> parse(String names) {
    return Arrays.stream(names.split(","))
        .map(String::strip)
        .filter(name -> !name.isEmpty())
        .map(Finding.Kind::valueOf)
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(Finding.Kind.class)));
  }
}
