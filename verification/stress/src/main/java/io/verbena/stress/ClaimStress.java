// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.verbena.emulated.hca.CompletionRing;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** Two producers claim the last entry of a ring: one gets the entry, the other an overrun. */
@JCStressTest
@Outcome(id = "0, -1", expect = ACCEPTABLE, desc = "the first has it")
@Outcome(id = "-1, 0", expect = ACCEPTABLE, desc = "the second has it")
@State
public class ClaimStress {
  private final CompletionRing ring = new CompletionRing(1);

  /** One producer. */
  @Actor
  public void first(JJ_Result result) {
    result.r1 = ring.claim();
  }

  /** Another producer. */
  @Actor
  public void second(JJ_Result result) {
    result.r2 = ring.claim();
  }
}
