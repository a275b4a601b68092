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
 * A thread that takes memory away from its owner first sets a mark, and then waits for an owner
 * that may not have seen the mark. Such an owner may still access the memory, which is freed only
 * after the owner is done.
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

  /** The owner works on the queue. */
  @Actor
  public void own(II_Result result) {
    ownership.acquire();
    if (alive) {
      result.r1 = 1;
      result.r2 = freed;
    }
    ownership.release();
  }

  /** Another thread marks the queue, waits for the owner and frees the memory. */
  @Actor
  public void takeAway() {
    alive = false;
    ownership.awaitHandover();
    freed = 1;
  }
}
