// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.verbena.emulated.hca.Ownership;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * What is taken away is made visible first, and then waits for the owner that may not have seen it:
 * an owner that still saw it may touch it, since it is not freed before that owner is done.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "the owner saw that it was taken away")
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the owner used it in time")
@Outcome(id = "1, 1", expect = FORBIDDEN, desc = "the owner used it when it was freed")
@State
public class HandoverStress {
  private final Ownership ownership = new Ownership();
  private volatile boolean alive = true;
  private int freed;

  /** Who works on the queue. */
  @Actor
  public void own(II_Result result) {
    ownership.acquire();
    if (alive) {
      result.r1 = 1;
      result.r2 = freed;
    }
    ownership.release();
  }

  /** Who takes memory away from it. */
  @Actor
  public void takeAway() {
    alive = false;
    ownership.awaitHandover();
    freed = 1;
  }
}
