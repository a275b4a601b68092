// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A mistake of a program.
 *
 * @param kind the kind of mistake
 * @param message the values that make it a mistake
 * @param place the place in the program where it began: where the work request was posted or the
 *     object was created. It is a frame of Verbena's upper layers only if no other one is on the
 *     stack
 * @param trace the frames from there on, preceded by those of Verbena's layers
 * @param related a second place that belongs to it, or null
 */
public record Finding(
    Kind kind,
    String message,
    StackTraceElement place,
    List<StackTraceElement> trace,
    @Nullable Related related) {

  /** The kinds of mistakes. */
  public enum Kind {
    /** The buffer of a SEND or WRITE held other bytes at its completion than when it was posted. */
    SEND_BUFFER_CHANGED,
    /** The program wrote into the buffer of a receive, READ or atomic that was posted. */
    RECEIVE_BUFFER_WRITTEN,
    /** A payload holds the poison that such a buffer shows to a program that reads it too early. */
    RECEIVE_BUFFER_READ,
    /** A region was closed while work requests that name it were outstanding. */
    MEMORY_CLOSED_WHILE_POSTED,
    /** Registered memory was freed while it was posted. */
    MEMORY_FREED_WHILE_POSTED,
    /** A message was posted without a receive at the peer: only RNR retries could deliver it. */
    SEND_WITHOUT_RECEIVE,
    /** More completions are on their way to a completion queue than it holds. */
    COMPLETION_QUEUE_TOO_SMALL,
    /** A send queue is full of unsignaled requests: no completion will ever free a slot. */
    SEND_QUEUE_UNSIGNALED,
    /** Completions were thrown away with their queue pair or completion queue. */
    COMPLETION_NEVER_POLLED,
    /** A request names a key of a region or window that is closed or was invalidated. */
    KEY_USED_AFTER_INVALIDATION,
    /** An object was never closed. */
    NEVER_CLOSED,
    /** A region had rights that were never used. */
    ACCESS_NEVER_USED,
    /** A request was posted to a full queue: the program's count of slots or credits is wrong. */
    QUEUE_OVERFILLED,
    /**
     * All receives were used up, no new one was posted, and a message waited for one until it
     * failed.
     */
    RECEIVE_NEVER_REPOSTED,
    /** A completion belongs to no work request: a mistake of the provider. */
    UNKNOWN_COMPLETION,
    /** The JVM has no memory left to watch a buffer; the program runs on without that. */
    NOT_WATCHED
  }

  /**
   * A second place, for example where the key was invalidated.
   *
   * @param what the event at that place
   * @param trace its frames, innermost first
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

  /** Returns the finding as human-readable text of several lines. */
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

  /** Returns the finding in one line. */
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
