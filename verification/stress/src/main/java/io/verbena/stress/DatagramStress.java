// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Races of a datagram with closing the objects that it uses. */
public final class DatagramStress {
  private DatagramStress() {}

  /** The HCA does not access the memory of a receive after its region is closed. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "in time, or refused at the far end alone")
  @State
  public static class Region {
    private final DatagramPair pair = new DatagramPair();

    /** The near end sends; the sending thread copies the bytes. */
    @Actor
    public void send() {
      pair.send();
    }

    /** Another thread deregisters the memory and reuses it. */
    @Actor
    public void deregister() {
      pair.farRegion.close();
      pair.overwrite();
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r1 = pair.sent();
      result.r2 = pair.isOverwritten();
      pair.close();
    }
  }

  /** The HCA does not access the memory of a receive after its queue pair is closed. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "received in time, or by nobody")
  @State
  public static class Receiver {
    private final DatagramPair pair = new DatagramPair();

    /** The near end sends; the sending thread copies the bytes. */
    @Actor
    public void send() {
      pair.send();
    }

    /** Another thread closes the queue pair of the receive and reuses the memory. */
    @Actor
    public void close() {
      pair.far.close();
      pair.overwrite();
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r1 = pair.sent();
      result.r2 = pair.isOverwritten();
      pair.close();
    }
  }

  /**
   * No receiver gets bytes that the program writes to the memory of a region after closing the
   * region.
   */
  @JCStressTest
  @Outcome(id = "0, 17", expect = ACCEPTABLE, desc = "in time")
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "refused")
  @State
  public static class Source {
    private final DatagramPair pair = new DatagramPair();

    /** The near end sends; the sending thread copies the bytes. */
    @Actor
    public void send() {
      pair.send();
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
      result.r2 = (int) pair.payload();
      pair.close();
    }
  }

  /** A datagram by an address handle that is closed meanwhile is either received or refused. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "received")
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "refused")
  @State
  public static class Way {
    private final DatagramPair pair = new DatagramPair();

    /** The near end sends. */
    @Actor
    public void send(II_Result result) {
      result.r1 = pair.send() ? 1 : 0;
    }

    /** Another thread closes the address handle. */
    @Actor
    public void close() {
      pair.way.close();
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r2 = pair.received();
      pair.close();
    }
  }

  /** A queue pair that is closed meanwhile has either sent a datagram or refused it. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "received")
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "refused")
  @State
  public static class Sender {
    private final DatagramPair pair = new DatagramPair();

    /** The near end sends. */
    @Actor
    public void send(II_Result result) {
      result.r1 = pair.send() ? 1 : 0;
    }

    /** Another thread closes the queue pair. */
    @Actor
    public void close() {
      pair.near.close();
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      result.r2 = pair.received();
      pair.close();
    }
  }
}
