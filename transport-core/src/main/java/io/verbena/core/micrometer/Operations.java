// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.micrometer;

import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendOpcode;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Timers by operation and completion status, each made at the first use. Opcodes that share a tag
 * share a timer.
 */
final class Operations {
  private static final SendOpcode[] BY_CODE = byCode();

  /** The number of opcode codes: one more than the highest. */
  static final int OPCODES = BY_CODE.length;

  private static final int STATUSES = statuses();

  private final MeterRegistration registration;
  private final Tags tags;
  private final AtomicReferenceArray<Timer> timers = new AtomicReferenceArray<>(OPCODES * STATUSES);

  Operations(MeterRegistration registration, Tags tags) {
    this.registration = registration;
    this.tags = tags;
  }

  private static SendOpcode[] byCode() {
    SendOpcode[] opcodes = new SendOpcode[SendOpcode.values().length];
    for (SendOpcode opcode : SendOpcode.values()) {
      opcodes[opcode.code()] = opcode;
    }
    return opcodes;
  }

  private static int statuses() {
    int count = 0;
    for (CompletionStatus status : CompletionStatus.values()) {
      count = Math.max(count, status.code() + 1);
    }
    return count;
  }

  /** Records the duration and the status of a work request. */
  void record(int opcode, CompletionStatus status, long nanos) {
    int index = opcode * STATUSES + status.code();
    Timer timer = timers.get(index);
    if (timer == null) {
      timer = make(BY_CODE[opcode], status);
      timers.set(index, timer);
    }
    timer.record(nanos, TimeUnit.NANOSECONDS);
  }

  private Timer make(SendOpcode opcode, CompletionStatus status) {
    return registration.timer(
        "verbena.operations",
        "Work requests, from post to completion",
        tags.and("operation", name(opcode), "status", name(status)));
  }

  /** Returns the tag of an operation. */
  static String name(SendOpcode opcode) {
    return switch (opcode) {
      case SEND, SEND_WITH_IMM, SEND_WITH_INV -> "send";
      case RDMA_WRITE -> "write";
      case RDMA_WRITE_WITH_IMM -> "write_with_immediate";
      case RDMA_READ -> "read";
      case ATOMIC_CMP_AND_SWP -> "compare_and_swap";
      case ATOMIC_FETCH_AND_ADD -> "fetch_and_add";
      case LOCAL_INV -> "local_invalidate";
      case BIND_MW -> "bind_window";
    };
  }

  /** Returns the tag of a status. */
  static String name(CompletionStatus status) {
    return status.name().toLowerCase(Locale.ROOT);
  }
}
