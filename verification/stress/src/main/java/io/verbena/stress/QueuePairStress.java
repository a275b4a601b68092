// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * After a queue pair is reset or closed, the HCA does not access memory that is deregistered next.
 * A posted request completes once, or not at all if its queue pair was reset or closed.
 */
public final class QueuePairStress {
  private QueuePairStress() {}

  /** The near end is reset. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "in time")
  @Outcome(
      id = "-1, 1",
      expect = ACCEPTABLE,
      desc = "not done: it waits for the far end, or was dropped")
  @State
  public static class ResetNear {
    private final ConnectedPair pair = new ConnectedPair();

    /** The near end writes. */
    @Actor
    public void post() {
      pair.write(pair.farRegion.rkey());
    }

    /** Another thread resets or closes a queue pair, then deregisters and reuses the memory. */
    @Actor
    public void takeAway() {
      ConnectedPair.to(pair.near, QueuePairState.RESET);
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

  /** The far end is reset. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "in time")
  @Outcome(
      id = "-1, 1",
      expect = ACCEPTABLE,
      desc = "not done: it waits for the far end, or was dropped")
  @State
  public static class ResetFar {
    private final ConnectedPair pair = new ConnectedPair();

    /** The near end writes. */
    @Actor
    public void post() {
      pair.write(pair.farRegion.rkey());
    }

    /** Another thread resets or closes a queue pair, then deregisters and reuses the memory. */
    @Actor
    public void takeAway() {
      ConnectedPair.to(pair.far, QueuePairState.RESET);
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

  /** The near end is closed. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "in time")
  @Outcome(
      id = "-1, 1",
      expect = ACCEPTABLE,
      desc = "not done: it waits for the far end, or was dropped")
  @State
  public static class CloseNear {
    private final ConnectedPair pair = new ConnectedPair();

    /** The near end writes. */
    @Actor
    public void post() {
      pair.write(pair.farRegion.rkey());
    }

    /** Another thread resets or closes a queue pair, then deregisters and reuses the memory. */
    @Actor
    public void takeAway() {
      pair.near.close();
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

  /** The far end is closed. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "in time")
  @Outcome(
      id = "-1, 1",
      expect = ACCEPTABLE,
      desc = "not done: it waits for the far end, or was dropped")
  @State
  public static class CloseFar {
    private final ConnectedPair pair = new ConnectedPair();

    /** The near end writes. */
    @Actor
    public void post() {
      pair.write(pair.farRegion.rkey());
    }

    /** Another thread resets or closes a queue pair, then deregisters and reuses the memory. */
    @Actor
    public void takeAway() {
      pair.far.close();
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

  /** The far end goes to ERR while a SEND arrives: the SEND and its receive complete once. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "once each")
  @State
  public static class Fail {
    private final ConnectedPair pair = new ConnectedPair().receiving();

    /** The near end sends. */
    @Actor
    public void post() {
      pair.post(pair.request().send());
    }

    /** The far end flushes. */
    @Actor
    public void fail() {
      ConnectedPair.to(pair.far, QueuePairState.ERR);
    }

    /** Flushes the near end and counts the completions. */
    @Arbiter
    public void look(II_Result result) {
      ConnectedPair.to(pair.near, QueuePairState.ERR);
      result.r1 = pair.count(pair.sends);
      result.r2 = pair.count(pair.receives);
      pair.close();
    }
  }

  /** The program moves a queue pair to ERR while the queue pair fails by itself. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "completed once, and nobody was refused")
  @State
  public static class FailTwice {
    private final ConnectedPair pair = new ConnectedPair();

    /** The near end writes with an invalid key. */
    @Actor
    public void post() {
      pair.write(pair.farRegion.rkey() + 1);
    }

    /** Another thread moves the queue pair to ERR. */
    @Actor
    public void fail(II_Result result) {
      try {
        ConnectedPair.to(pair.near, QueuePairState.ERR);
      } catch (VerbsException e) {
        result.r2 = 1;
      }
    }

    /** Counts the completions of the request. */
    @Arbiter
    public void look(II_Result result) {
      result.r1 = pair.count(pair.sends);
      pair.close();
    }
  }

  /**
   * The slot of a shared receive that the far end has taken becomes free, even if the far end is
   * closed.
   */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "it was filled, and its slot is free")
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "it was not taken")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "it was taken, and dropped with its queue pair")
  @State
  public static class Shared {
    private final ConnectedPair pair = new ConnectedPair(true).receiving();

    /** The near end sends. */
    @Actor
    public void post() {
      pair.post(pair.request().send());
    }

    /** Another thread closes the far end. */
    @Actor
    public void close() {
      pair.far.close();
    }

    /** Records whether the only slot is free. */
    @Arbiter
    public void look(II_Result result) {
      pair.near.close();
      result.r1 = pair.count(pair.receives);
      try {
        ConnectedPair unused = pair.receiving();
        result.r2 = 1;
      } catch (PostException e) {
        result.r2 = e.error() == VerbsError.NO_MEMORY ? 0 : ConnectedPair.OTHER;
      }
      pair.close();
    }
  }
}
