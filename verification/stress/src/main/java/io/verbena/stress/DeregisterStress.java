// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The HCA does not access the memory of a region after its close has returned. */
public final class DeregisterStress {
  private DeregisterStress() {}

  /** Closes the region during a WRITE to it. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "in time")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "refused")
  @State
  public static class Write {
    private final ConnectedPair pair = new ConnectedPair();

    /** The near end posts; the posting thread copies the bytes. */
    @Actor
    public void post() {
      pair.write(pair.farRegion.rkey());
    }

    /** Another thread deregisters the memory and reuses it. */
    @Actor
    public void deregister() {
      pair.farRegion.close();
      ConnectedPair.overwrite(pair.farMemory);
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r1 = pair.sent();
      result.r2 = ConnectedPair.isOverwritten(pair.farMemory);
      pair.close();
    }
  }

  /** Closes the region during a SEND to it. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "in time")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "refused")
  @State
  public static class Send {
    private final ConnectedPair pair = new ConnectedPair().receiving();

    /** The near end posts; the posting thread copies the bytes. */
    @Actor
    public void post() {
      pair.post(pair.request().send());
    }

    /** Another thread deregisters the memory and reuses it. */
    @Actor
    public void deregister() {
      pair.farRegion.close();
      ConnectedPair.overwrite(pair.farMemory);
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r1 = pair.sent();
      result.r2 = ConnectedPair.isOverwritten(pair.farMemory);
      pair.close();
    }
  }

  /** Closes the region during an atomic on it. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "in time")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "refused")
  @State
  public static class Atomic {
    private final ConnectedPair pair = new ConnectedPair();

    /** The near end posts; the posting thread copies the bytes. */
    @Actor
    public void post() {
      pair.post(pair.request().fetchAndAdd(pair.farRegion.address(), pair.farRegion.rkey(), 1));
    }

    /** Another thread deregisters the memory and reuses it. */
    @Actor
    public void deregister() {
      pair.farRegion.close();
      ConnectedPair.overwrite(pair.farMemory);
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r1 = pair.sent();
      result.r2 = ConnectedPair.isOverwritten(pair.farMemory);
      pair.close();
    }
  }

  /** Closes the region during a READ of it, which must not return bytes written after the close. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "in time")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "refused")
  @State
  public static class Read {
    private final ConnectedPair pair = new ConnectedPair();

    /** The near end posts; the posting thread copies the bytes. */
    @Actor
    public void post() {
      pair.post(pair.request().read(pair.farRegion.address(), pair.farRegion.rkey()));
    }

    /** Another thread deregisters the memory and reuses it. */
    @Actor
    public void deregister() {
      pair.farRegion.close();
      ConnectedPair.overwrite(pair.farMemory);
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r1 = pair.sent();
      result.r2 = 1 - ConnectedPair.isOverwritten(pair.nearMemory);
      pair.close();
    }
  }

  /** Closes the region during a SEND from it, which must not send bytes written after the close. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "in time")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "refused")
  @State
  public static class Source {
    private final ConnectedPair pair = new ConnectedPair().receiving();

    /** The near end posts; the posting thread copies the bytes. */
    @Actor
    public void post() {
      pair.post(pair.request().send());
    }

    /** Another thread deregisters the memory and reuses it. */
    @Actor
    public void deregister() {
      pair.nearRegion.close();
      ConnectedPair.overwrite(pair.nearMemory);
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r1 = pair.sent();
      result.r2 = 1 - ConnectedPair.isOverwritten(pair.farMemory);
      pair.close();
    }
  }
}
