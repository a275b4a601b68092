// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.verbena.emulated.hca.ReceiveRing;
import io.verbena.verbs.ReceiveWorkRequest;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** A thread that takes a receive sees all its fields, or no receive. */
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not posted yet")
@Outcome(id = "7, 4096", expect = ACCEPTABLE, desc = "posted")
@State
public class ReceiveStress {
  private final ReceiveRing queue = new ReceiveRing(1, 1);
  private final ReceiveWorkRequest request = new ReceiveWorkRequest().id(7).buffer(4096, 64, 1);

  /** The program posts a receive. */
  @Actor
  public void post() {
    queue.post(request);
  }

  /** The sender takes the receive. */
  @Actor
  public void take(JJ_Result result) {
    if (queue.hasNext()) {
      result.r1 = queue.length(0) == 64 && queue.lkey(0) == 1 ? queue.id() : -1;
      result.r2 = queue.address(0);
      queue.take();
    }
  }
}
