// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

/** Polls a completion queue with a deadline and checks the completions. */
final class CompletionPoller {
  private final CompletionQueue queue;
  private final String name;
  private final TckContext tck;

  /** The queue pair whose sends complete here, or null if several may. */
  private final @Nullable QueuePair sender;

  CompletionPoller(CompletionQueue queue, String name, TckContext tck) {
    this(queue, name, tck, null);
  }

  CompletionPoller(CompletionQueue queue, String name, TckContext tck, @Nullable QueuePair sender) {
    this.sender = sender;
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
   * with the other status that the provider declares for its device. A device without {@link
   * Capability#REQUEST_STATUS} does not learn the peer's refusal of a request: the request may have
   * succeeded or been flushed, and its queue pair goes to ERR.
   */
  WorkCompletion expectError(long id, CompletionStatus status) {
    WorkCompletion completion = next();
    tck.observed(name.replace(" completion queue", "") + ": " + completion.status());
    assertThat(completion.workRequestId()).as("id of %s on the %s", completion, name).isEqualTo(id);
    if (sender != null && isThePeers(status) && !tck.supports(Capability.REQUEST_STATUS)) {
      assertThat(completion.status())
          .as("status of %s on the %s", completion, name)
          .isIn(CompletionStatus.SUCCESS, CompletionStatus.WR_FLUSH_ERR);
      Deadline deadline = Deadline.in(tck.timeout());
      while (sender.state() != QueuePairState.ERR && !deadline.isOver()) {
        deadline.pause();
      }
      assertThat(sender.state())
          .as("state after what the peer refused")
          .isEqualTo(QueuePairState.ERR);
      return completion;
    }
    assertThat(completion.status())
        .as("status of %s on the %s", completion, name)
        .isEqualTo(tck.expectedStatus(status));
    return completion;
  }

  /** Returns whether a status reports the peer's answer to a request. */
  private static boolean isThePeers(CompletionStatus status) {
    return switch (status) {
      case REM_ACCESS_ERR, REM_INV_REQ_ERR, REM_OP_ERR, RNR_RETRY_EXC_ERR -> true;
      default -> false;
    };
  }

  /**
   * Waits for the next completion, of a request that invalidates a key that the peer is using. A
   * late access by the peer moves the queue pair to ERR, which may flush the request although it
   * was executed, because rxe completes it in a separate step.
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
