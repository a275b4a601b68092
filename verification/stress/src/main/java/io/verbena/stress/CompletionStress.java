// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.verbena.emulated.hca.CompletionEntry;
import io.verbena.emulated.hca.CompletionRing;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.WorkCompletion;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** A consumer sees all fields of a completion, and the payload that was written before it. */
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not there yet")
@Outcome(id = "7, 42", expect = ACCEPTABLE, desc = "there, and the payload with it")
@State
public class CompletionStress {
  private final CompletionRing ring = new CompletionRing(2);
  private final WorkCompletion completion = new WorkCompletion();
  private long payload;

  /** The producer writes the payload and the completion. */
  @Actor
  public void publish() {
    payload = 42;
    ring.publish(
        ring.claimAlone(),
        new CompletionEntry()
            .ends(CompletionStatus.SUCCESS, CompletionOpcode.RECV, 8)
            .of(0xffffff, 0)
            .completes(7, 1));
  }

  /** The consumer polls once. */
  @Actor
  public void poll(JJ_Result result) {
    if (ring.isPublished(ring.head())) {
      ring.read(ring.at(ring.head()), completion);
      boolean whole = completion.byteLength() == 8 && completion.queuePairNumber() == 0xffffff;
      result.r1 = whole ? completion.workRequestId() : -1;
      result.r2 = payload;
    }
  }
}
