// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.SendWorkRequest;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Nothing is written through a window after its close, or its invalidation, has completed. */
public final class WindowStress {
  private WindowStress() {}

  private static MemoryWindow bound(ConnectedPair pair) {
    MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B);
    pair.far.postSend(
        new SendWorkRequest()
            .bind(window, window.rkey() + 1, pair.farRegion, Access.REMOTE_WRITE.bit())
            .buffer(pair.farRegion.address(), Long.BYTES, pair.farRegion.lkey()));
    if (pair.sent() != ConnectedPair.GOOD) {
      throw new AssertionError("the window is not bound");
    }
    return window;
  }

  /** The program deallocates the window. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "in time")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "refused")
  @State
  public static class Close {
    private final ConnectedPair pair = new ConnectedPair();
    private final MemoryWindow window = bound(pair);

    /** The near end writes. */
    @Actor
    public void post() {
      pair.write(window.rkey());
    }

    /** The far end closes the window and reuses the memory. */
    @Actor
    public void takeAway() {
      window.close();
      ConnectedPair.overwrite(pair.farMemory);
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r1 = pair.sent();
      result.r2 = ConnectedPair.isOverwritten(pair.farMemory);
      window.close();
      pair.close();
    }
  }

  /** The far end invalidates the window. */
  @JCStressTest
  @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "both requests are completed")
  @State
  public static class Invalidate {
    private final ConnectedPair pair = new ConnectedPair();
    private final MemoryWindow window = bound(pair);
    private final int key = window.rkey();

    /** The near end writes. */
    @Actor
    public void post() {
      pair.write(key);
    }

    /** The far end invalidates the window, which is done once posted, and reuses the memory. */
    @Actor
    public void takeAway() {
      pair.far.postSend(new SendWorkRequest().localInvalidate(key));
      ConnectedPair.overwrite(pair.farMemory);
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r1 = pair.count(pair.sends);
      result.r2 = ConnectedPair.isOverwritten(pair.farMemory);
      window.close();
      pair.close();
    }
  }
}
