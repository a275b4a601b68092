// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.RandomProgram.Attempt;
import io.verbena.emulated.cm.protocol.RandomProgram.Phase;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.emulated.wire.VirtualTime;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Two programs connect and send service requests to each other over a network that loses, repeats,
 * delays and reorders messages, while a {@link Stranger} sends arbitrary messages. In half of the
 * runs the stranger overhears everything and may break connections; in the others both ends must
 * agree on each connection.
 *
 * <p>Invariants: no message makes an agent throw; an unproven address gets at most twice as many
 * messages as came from it; undecided requests stay within the limits; each attempt ends, and in
 * the end no connection is known and no timer is set.
 */
final class RandomCmRun {
  private static final long MILLI = Network.MILLI;
  private static final PeerLimits LIMITS = new PeerLimits(12, 5, 40);
  private static final int ATTEMPTS = 12;
  private static final int QUESTIONS = 6;
  private static final int MOST_ACTS = 150;
  private static final int BUSY_MILLIS = 15_000;

  /** Longer than any attempt lasts, including the wait for an undecided request. */
  private static final long QUIET = 120_000 * MILLI;

  /** Probability that a message is lost; also that it is repeated, and that it is late. */
  private static final double LOSS = 0.03;

  final VirtualTime time = new VirtualTime();
  final SplittableRandom random;
  private final boolean overhears;
  private final List<CountingPort> ports = new ArrayList<>();
  private final List<RandomProgram> programs = new ArrayList<>();
  private final Stranger stranger;

  RandomCmRun(long seed) {
    random = new SplittableRandom(seed);
    overhears = random.nextBoolean();
    stranger = new Stranger(this, overhears);
    for (int address = 1; address <= 2; address++) {
      CountingPort port = new CountingPort(this, address, LIMITS, this::send);
      ports.add(port);
      programs.add(new RandomProgram(this, port));
    }
  }

  void run() {
    for (int i = 0; i < ATTEMPTS; i++) {
      int from = random.nextInt(2);
      after(moment(BUSY_MILLIS), () -> programs.get(from).connect(programs.get(1 - from)));
    }
    for (int i = 0; i < QUESTIONS; i++) {
      int from = random.nextInt(2);
      after(moment(BUSY_MILLIS), () -> programs.get(from).ask(programs.get(1 - from)));
    }
    for (int acts = random.nextInt(MOST_ACTS); acts > 0; acts--) {
      after(moment(BUSY_MILLIS), stranger::act);
    }
    quiet();
    checkAgreement();
    programs.forEach(RandomProgram::leaveAll);
    quiet();
    for (int i = 0; i < ports.size(); i++) {
      CmAgent agent = ports.get(i).agent;
      expect(agent.known() == 0, "connections known in the end: " + agent.known());
      int asked = agent.services().known();
      expect(asked == 0, "questions known in the end: " + asked);
      expect(
          programs.get(i).questions.stream().allMatch(question -> question.ended),
          "a question has no end");
    }
  }

  private void quiet() {
    long end = time.now() + QUIET;
    while (time.runDue() || time.advance(end)) {}
    expect(time.pending() == 0, "alarms set for ever: " + time.pending());
  }

  static void expect(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  // ---- what must hold

  /** Checks the limits; called after each message. */
  void checkBounds() {
    for (RandomProgram program : programs) {
      int all = program.halfOpen(null);
      expect(all <= LIMITS.halfOpen(), "half open: " + all);
      if (all > LIMITS.halfOpenPerPeer()) {
        for (Attempt each : program.attempts) {
          int ofPeer = program.halfOpen(each.peer);
          expect(ofPeer <= LIMITS.halfOpenPerPeer(), "half open of " + each.peer + ": " + ofPeer);
        }
      }
      program.checkQuestions(LIMITS);
    }
  }

  private void checkAgreement() {
    if (overhears) {
      return;
    }
    for (int i = 0; i < 2; i++) {
      for (Attempt one : programs.get(i).attempts) {
        if (one.phase == Phase.OPEN && isHonest(one.peer)) {
          expect(isOpenAt(programs.get(1 - i), one), "open at one end only: " + describe(one));
        }
      }
    }
  }

  private static boolean isOpenAt(RandomProgram program, Attempt one) {
    for (Attempt other : program.attempts) {
      Communication there = other.communication();
      if (other.phase == Phase.OPEN
          && there.localId() == one.communication().remoteId()
          && there.remoteId() == one.communication().localId()) {
        return true;
      }
    }
    return false;
  }

  private static String describe(Attempt one) {
    return (one.communication() instanceof PassiveCommunication ? "passive" : "active")
        + " end, to "
        + one.peer
        + " id "
        + one.communication().localId();
  }

  // ---- the network

  boolean isHonest(Gid gid) {
    return UdpGid.address(gid) <= ports.size();
  }

  CountingPort anyPort() {
    return ports.get(random.nextInt(ports.size()));
  }

  @Nullable CountingPort portAt(Gid gid) {
    for (CountingPort port : ports) {
      if (port.gid().equals(gid)) {
        return port;
      }
    }
    return null;
  }

  private void send(CountingPort from, CmMessage message, Gid to) {
    stranger.hears(message, from.gid(), to);
    CountingPort target = portAt(to);
    if (target == null) {
      return;
    }
    ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);
    Mad.write(message, mad);
    int source = UdpGid.address(from.gid());
    int copies = random.nextDouble() < LOSS ? 0 : random.nextDouble() < LOSS ? 2 : 1;
    for (int i = 0; i < copies; i++) {
      after(
          random.nextDouble() < LOSS ? moment(300) : moment(1),
          () -> target.arrive(mad.duplicate(), source));
    }
  }

  /** Delivers a packet to the queue pair at the other end of a connection. */
  void packetCame(Attempt from) {
    CountingPort there = portAt(from.peer);
    if (there == null) {
      return;
    }
    for (RandomProgram program : programs) {
      for (Attempt to : program.attempts) {
        if (to.communication().localId() == from.communication().remoteId()
            && to.communication().remoteId() == from.communication().localId()) {
          there.proven(UdpGid.address(to.peer), to.communication().remoteId());
          there.agent.packetCame(to.communication().localQueuePair());
        }
      }
    }
  }

  // ---- chance

  boolean oneIn(int times) {
    return random.nextInt(times) == 0;
  }

  long moment(int mostMillis) {
    return random.nextLong(mostMillis * MILLI);
  }

  void after(long nanos, Runnable step) {
    time.schedule(nanos, step);
  }
}
