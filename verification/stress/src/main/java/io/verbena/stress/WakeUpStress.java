// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.verbena.emulated.hca.CompletionEntry;
import io.verbena.emulated.hca.EmulatedCompletionChannel;
import io.verbena.emulated.hca.EmulatedCompletionQueue;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.WorkCompletion;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A consumer that arms and then polls once more, while a completion is published. */
@JCStressTest
@Outcome(id = "0, 0", expect = FORBIDDEN, desc = "neither polled nor woken: it sleeps for ever")
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "polled")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "woken")
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "polled, and woken needlessly")
@State
public class WakeUpStress {
  private static final EmulatedDevice DEVICE = Devices.open();

  private final EmulatedCompletionChannel channel = new EmulatedCompletionChannel(DEVICE);
  private final EmulatedCompletionQueue queue =
      new EmulatedCompletionQueue(DEVICE, 2, channel, true);
  private final WorkCompletion[] batch = WorkCompletion.array(1);

  /** A producer publishes a completion. */
  @Actor
  public void publish() {
    queue.publish(
        queue.claim(),
        new CompletionEntry()
            .ends(CompletionStatus.SUCCESS, CompletionOpcode.SEND, 0)
            .of(1, 0)
            .completes(1, 1));
  }

  /** The consumer arms the queue and polls once more. */
  @Actor
  public void armAndPoll(II_Result result) {
    queue.arm(false);
    result.r1 = queue.poll(batch);
  }

  /** Records whether an event would wake the consumer. */
  @Arbiter
  public void sleep(II_Result result) {
    try {
      result.r2 = channel.await(0) == null ? 0 : 1;
    } catch (InterruptedException e) {
      // No declared outcome, so the test fails.
      result.r2 = -1;
    }
  }
}
