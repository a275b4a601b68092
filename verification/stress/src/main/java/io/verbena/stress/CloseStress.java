// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Closing objects while other threads poll them, add to them, or use them. */
public final class CloseStress {
  private static final int CLOSED = -1;

  private CloseStress() {}

  private static int poll(ConnectedPair pair, WorkCompletion[] batch) {
    try {
      return pair.sends.poll(batch);
    } catch (VerbsException e) {
      return e.error() == VerbsError.CLOSED ? CLOSED : ConnectedPair.OTHER;
    }
  }

  /** A completion is polled once, even if its queue pair is closed meanwhile. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "once")
  @State
  public static class PolledQueuePair {
    private final ConnectedPair pair = new ConnectedPair();
    private final WorkCompletion[] batch = WorkCompletion.array(2);

    /** Creates a pair with a completion. */
    public PolledQueuePair() {
      pair.write(pair.farRegion.rkey());
    }

    /** One thread polls. */
    @Actor
    public void poll(II_Result result) {
      result.r1 = CloseStress.poll(pair, batch);
    }

    /** Another thread closes. */
    @Actor
    public void close() {
      pair.near.close();
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r2 = pair.count(pair.sends);
      pair.close();
    }
  }

  /**
   * A completion may still be polled after its completion queue is closed; the next poll fails with
   * CLOSED.
   */
  @JCStressTest
  @Outcome(id = "1, -1", expect = ACCEPTABLE, desc = "once, and closed")
  @State
  public static class PolledQueue {
    private final ConnectedPair pair = new ConnectedPair();
    private final WorkCompletion[] batch = WorkCompletion.array(2);

    /** Creates a queue with a completion, and closes its queue pairs. */
    public PolledQueue() {
      pair.write(pair.farRegion.rkey());
      pair.near.close();
      pair.far.close();
    }

    /** One thread polls. */
    @Actor
    public void poll(II_Result result) {
      result.r1 = CloseStress.poll(pair, batch);
    }

    /** Another thread closes. */
    @Actor
    public void close() {
      pair.sends.close();
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r2 = CloseStress.poll(pair, batch);
      pair.close();
    }
  }

  /** Either an object is created in a domain, or the domain is closed, never both. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the child is refused, the domain closed")
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the child is there, the domain busy")
  @State
  public static class Domain {
    private final ConnectedPair pair = new ConnectedPair();
    private final ProtectionDomain domain = pair.device.allocateProtectionDomain();
    private volatile @Nullable SharedReceiveQueue child;

    /** One thread creates a child. */
    @Actor
    public void create(II_Result result) {
      try {
        child = domain.createSharedReceiveQueue(1, 1);
        result.r1 = 1;
      } catch (VerbsException e) {
        result.r1 = e.error() == VerbsError.CLOSED ? 0 : ConnectedPair.OTHER;
      }
    }

    /** Another thread closes. */
    @Actor
    public void close(II_Result result) {
      try {
        domain.close();
        result.r2 = 1;
      } catch (VerbsException e) {
        result.r2 = e.error() == VerbsError.BUSY ? 0 : ConnectedPair.OTHER;
      }
    }

    /** Closes everything, and records nothing. */
    @Arbiter
    public void end() {
      SharedReceiveQueue made = child;
      if (made != null) {
        made.close();
      }
      domain.close();
      pair.close();
    }
  }

  /** An event of an identifier is raised before the identifier is closed, or never. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "never")
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "before")
  @State
  public static class Identifier {
    private final ConnectedPair pair = new ConnectedPair();
    private final ConnectionManager manager = pair.device.createConnectionManager();
    private final ConnectionIdentifier identifier =
        manager.resolve(PortSpace.TCP, URI.create("emulated://nobody"), 1);

    private int await() {
      try {
        ConnectionEvent event = manager.await(0);
        return event == null ? 0 : 1;
      } catch (InterruptedException e) {
        // No declared outcome, so the test fails.
        return ConnectedPair.OTHER;
      }
    }

    /** One thread takes events. */
    @Actor
    public void take(II_Result result) {
      result.r1 = await();
    }

    /** Another thread closes. */
    @Actor
    public void close() {
      identifier.close();
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r2 = await();
      manager.close();
      pair.close();
    }
  }
}
