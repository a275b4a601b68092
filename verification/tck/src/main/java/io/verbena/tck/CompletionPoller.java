// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

/** Polls a completion queue with a deadline and checks the completions. */
final class CompletionPoller {
  private final CompletionQueue queue;
  private final String name;
  private final TckContext tck;

  CompletionPoller(CompletionQueue queue, String name, TckContext tck) {
    this.queue = queue;
    this.name = name;
    this.tck = tck;
  }

  CompletionQueue queue() {
    return queue;
  }

  /** Returns the next completion in a new object, or null if there is none. */
  @Nullable WorkCompletion poll() {
    WorkCompletion[] one = WorkCompletion.array(1);
    return queue.poll(one) == 0 ? null : one[0];
  }

  /** Waits for the next completion. */
  WorkCompletion next() {
    Deadline deadline = Deadline.in(tck.timeout());
    while (true) {
      WorkCompletion completion = poll();
      if (completion != null) {
        return completion;
      }
      if (deadline.isOver()) {
        throw new AssertionError("no completion on the " + name + " within " + tck.timeout());
      }
      deadline.pause();
    }
  }

  /** Waits for the next completion, which must be the success of this request. */
  WorkCompletion expectSuccess(long id, CompletionOpcode opcode) {
    WorkCompletion completion = next();
    assertThat(completion.workRequestId()).as("id of %s on the %s", completion, name).isEqualTo(id);
    assertThat(completion.status())
        .as("status of %s on the %s", completion, name)
        .isEqualTo(CompletionStatus.SUCCESS);
    assertThat(completion.opcode())
        .as("opcode of %s on the %s", completion, name)
        .isEqualTo(opcode);
    return completion;
  }

  /**
   * Waits for the next completion, which must be the failure of this request with this status, or
   * with the different status that the provider declares for its device.
   */
  WorkCompletion expectError(long id, CompletionStatus status) {
    WorkCompletion completion = next();
    tck.observed(name.replace(" completion queue", "") + ": " + completion.status());
    assertThat(completion.workRequestId()).as("id of %s on the %s", completion, name).isEqualTo(id);
    assertThat(completion.status())
        .as("status of %s on the %s", completion, name)
        .isEqualTo(tck.expectedStatus(status));
    return completion;
  }

  /**
   * Waits for the next completion, of a request that takes a key away which the peer uses. The use
   * that comes too late moves the queue pair to ERR, and that may flush the request though it was
   * done: rxe completes it in a step of its own.
   */
  void expectSuccessOrFlush(long id) {
    WorkCompletion completion = next();
    assertThat(completion.workRequestId()).as("id of %s on the %s", completion, name).isEqualTo(id);
    assertThat(completion.status())
        .as("status of %s on the %s", completion, name)
        .isIn(CompletionStatus.SUCCESS, CompletionStatus.WR_FLUSH_ERR);
  }

  /** Asserts that the queue holds no completion now. */
  void expectNothing() {
    assertThat(poll()).as("unexpected completion on the %s", name).isNull();
  }
}
