// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A wrong wake-up protocol: a store and then a load, without a fence between them. This test is
 * meant to fail, which shows that the other tests can detect such a bug.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = FORBIDDEN, desc = "each missed the other")
@Outcome(expect = ACCEPTABLE, desc = "one saw the other")
@State
public class MissingFenceStress {
  private int published;
  private int armed;

  /** Publishes, then reads whether a consumer is armed. */
  @Actor
  public void publish(II_Result result) {
    published = 1;
    result.r1 = armed;
  }

  /** Arms, then polls once more. */
  @Actor
  public void armAndPoll(II_Result result) {
    armed = 1;
    result.r2 = published;
  }
}
