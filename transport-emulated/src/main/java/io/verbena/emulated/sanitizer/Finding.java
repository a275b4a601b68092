// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A mistake of a program, as the sanitizer reports it. Immutable.
 *
 * @param kind the kind of mistake
 * @param message the human-readable description of the mistake, with the values that show it
 * @param place the place in the program where the mistake began: where the work request was posted
 *     or the object was created. It is a frame of a library only if the stack has no frame of the
 *     program
 * @param trace the stack, innermost frame first: the frames of libraries that the program called,
 *     then {@code place} and the frames of its callers
 * @param related a second place that belongs to the mistake, or null
 */
public record Finding(
    Kind kind,
    String message,
    StackTraceElement place,
    List<StackTraceElement> trace,
    @Nullable Related related) {

  /** The kinds of mistakes. */
  public enum Kind {
    /** The buffer of a SEND or WRITE held other bytes at its completion than at its post. */
    SEND_BUFFER_CHANGED,
    /**
     * The program wrote into the buffer of a posted receive, READ or atomic before its completion
     * was polled.
     */
    RECEIVE_BUFFER_WRITTEN,
    /**
     * The payload of a posted request holds bytes that the program read too early from the buffer
     * of a posted receive, READ or atomic: such a buffer shows a known pattern until its completion
     * is polled.
     */
    RECEIVE_BUFFER_READ,
    /** A region was closed while work requests that name it were outstanding. */
    MEMORY_CLOSED_WHILE_POSTED,
    /** Registered memory was freed while work requests that name it were outstanding. */
    MEMORY_FREED_WHILE_POSTED,
    /**
     * A message was posted while the peer had no receive for it: only RNR retries could deliver it.
     */
    SEND_WITHOUT_RECEIVE,
    /** More completions are to come to a completion queue than the queue holds. */
    COMPLETION_QUEUE_TOO_SMALL,
    /** A send queue is full of unsignaled requests: no completion will ever free a slot. */
    SEND_QUEUE_UNSIGNALED,
    /**
     * A queue pair or completion queue was closed before the program had polled its completions.
     */
    COMPLETION_NEVER_POLLED,
    /** A request names the key of a region or window that was closed or invalidated. */
    KEY_USED_AFTER_INVALIDATION,
    /** An object was never closed. */
    NEVER_CLOSED,
    /** A region was closed, and some of its access rights were never used. */
    ACCESS_NEVER_USED,
    /** A request was posted to a full queue: the program's count of slots or credits is wrong. */
    QUEUE_OVERFILLED,
    /**
     * All receives were used up and no new one was posted, while a message waited for a receive
     * until its retries were used up or its receiver was closed.
     */
    RECEIVE_NEVER_REPOSTED,
    /** A completion belongs to no outstanding work request: a mistake of the provider. */
    UNKNOWN_COMPLETION,
    /**
     * The JVM had no memory left to watch a buffer; the program continues, but accesses to the
     * buffer before the completion are not detected.
     */
    NOT_WATCHED
  }

  /**
   * A second place, for example where the key was invalidated.
   *
   * @param what the event at that place
   * @param trace the stack at that place, innermost frame first
   */
  public record Related(String what, List<StackTraceElement> trace) {
    public Related {
      requireNonNull(what, "what");
      trace = List.copyOf(trace);
    }
  }

  public Finding {
    requireNonNull(kind, "kind");
    requireNonNull(message, "message");
    requireNonNull(place, "place");
    trace = List.copyOf(trace);
  }

  static Finding at(Kind kind, CallSite place, String message) {
    return new Finding(kind, message, place.ofProgram(), place.trace(), null);
  }

  static Finding at(Kind kind, CallSite place, String message, String what, CallSite other) {
    return new Finding(
        kind, message, place.ofProgram(), place.trace(), new Related(what, other.trace()));
  }

  /** Returns a human-readable text of several lines, with the stack traces. */
  public String report() {
    StringBuilder text =
        new StringBuilder("verbena sanitizer: ").append(kind).append(": ").append(message);
    append(text, trace);
    if (related != null) {
      text.append(System.lineSeparator()).append("  ").append(related.what);
      append(text, related.trace);
    }
    return text.toString();
  }

  /** Returns kind, place and message in one line. */
  @Override
  public String toString() {
    return kind + " at " + place + ": " + message;
  }

  private static void append(StringBuilder text, List<StackTraceElement> frames) {
    for (StackTraceElement frame : frames) {
      text.append(System.lineSeparator()).append("      at ").append(frame);
    }
  }
}
