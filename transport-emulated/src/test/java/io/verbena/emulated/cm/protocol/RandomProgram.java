// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceReply;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A program at one port that connects, accepts, refuses, delays, forgets and disconnects at random.
 * The run fails on an impossible event: any event after the end, an establishment without an
 * accept, or an end that does not fit the state.
 */
final class RandomProgram implements CmListener, ServiceListener {
  static final long CONNECTIONS = ServiceId.of(ServiceId.TCP, 7);
  static final long DATAGRAMS = ServiceId.of(ServiceId.UDP, 7);
  private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0);
  private static final int MOST_TIMEOUT_MILLIS = 10_000;

  /** The states of a connection. */
  enum Phase {
    ASKING,
    REPLIED,
    ASKED,
    ACCEPTED,
    OPEN,
    ENDED
  }

  final List<Attempt> attempts = new ArrayList<>();
  final List<Question> questions = new ArrayList<>();

  /** Questions without an answer, including those that the agent has forgotten. */
  private final Set<ServiceResolution> undecided = new HashSet<>();

  private final RandomCmRun run;
  private final CountingPort port;
  private int queuePairs;

  RandomProgram(RandomCmRun run, CountingPort port) {
    this.run = run;
    this.port = port;
    port.agent.listen(CONNECTIONS, this);
    port.agent.services().listen(DATAGRAMS, this);
  }

  // ---- connections

  void connect(RandomProgram to) {
    Attempt made = new Attempt(Phase.ASKING, to.port.gid());
    made.communication =
        port.agent.connect(
            to.port.gid(),
            Stranger.request(run, 0, 0, to.port.gid(), CONNECTIONS),
            run.moment(MOST_TIMEOUT_MILLIS),
            made);
    attempts.add(made);
    if (run.oneIn(4)) {
      run.after(run.moment(5_000), made::leave);
    }
  }

  @Override
  public @Nullable CmUser requested(Communication communication, Request request) {
    if (run.oneIn(20)) {
      return null;
    }
    Attempt made = new Attempt(Phase.ASKED, request.source());
    made.communication = communication;
    attempts.add(made);
    if (!run.oneIn(10)) {
      run.after(run.moment(run.oneIn(3) ? 3_000 : 1), made::decide);
    }
    return made;
  }

  /** Ends all open connections. */
  void leaveAll() {
    attempts.forEach(Attempt::leave);
  }

  int halfOpen(@Nullable Gid peer) {
    int count = 0;
    for (Attempt each : attempts) {
      boolean pending = each.phase == Phase.ASKED || each.phase == Phase.ACCEPTED;
      if (pending && (peer == null || UdpGid.areNeighbors(peer, each.peer))) {
        count++;
      }
    }
    return count;
  }

  /** One end of a connection. */
  final class Attempt implements CmUser {
    final Gid peer;
    Phase phase;
    @Nullable Communication communication;

    Attempt(Phase phase, Gid peer) {
      this.phase = phase;
      this.peer = peer;
    }

    Communication communication() {
      if (communication == null) {
        throw new AssertionError("told before it was made");
      }
      return communication;
    }

    private void decide() {
      if (phase != Phase.ASKED) {
        return;
      }
      if (run.oneIn(4)) {
        leave();
        return;
      }
      phase = Phase.ACCEPTED;
      communication().accept(Stranger.reply(0, 0, ++queuePairs));
      if (run.oneIn(5)) {
        run.after(run.moment(3_000), this::leave);
      }
    }

    private void leave() {
      if (phase != Phase.ENDED) {
        phase = Phase.ENDED;
        if (run.random.nextBoolean()) {
          communication().disconnect();
        } else {
          communication().reject(CmReason.CONSUMER_DEFINED, NO_DATA);
        }
      }
    }

    private void ready() {
      if (phase != Phase.REPLIED) {
        return;
      }
      if (!communication().ready()) {
        throw new AssertionError("not ready, and told no end");
      }
      phase = Phase.OPEN;
      if (run.oneIn(4)) {
        run.after(run.moment(20), () -> run.packetCame(this));
      }
    }

    private void moves(String told, Set<Phase> expected, Phase to) {
      if (!expected.contains(phase)) {
        throw new AssertionError(told + " in " + phase + " (expected: " + expected + ")");
      }
      phase = to;
    }

    @Override
    public void replied(Reply reply) {
      moves("replied", EnumSet.of(Phase.ASKING), Phase.REPLIED);
      run.after(run.moment(run.oneIn(10) ? 20_000 : 2), this::ready);
    }

    @Override
    public void established() {
      moves("established", EnumSet.of(Phase.ACCEPTED), Phase.OPEN);
    }

    @Override
    public void rejected(Reject reject) {
      moves(
          "rejected",
          EnumSet.of(Phase.ASKING, Phase.REPLIED, Phase.ASKED, Phase.ACCEPTED),
          Phase.ENDED);
    }

    @Override
    public void unreachable(int why) {
      moves("unreachable", EnumSet.of(Phase.ASKING, Phase.ASKED, Phase.ACCEPTED), Phase.ENDED);
    }

    @Override
    public void disconnected() {
      moves("disconnected", EnumSet.of(Phase.OPEN), Phase.ENDED);
    }
  }

  // ---- datagrams

  void ask(RandomProgram to) {
    Question made = new Question();
    questions.add(made);
    ServiceResolution resolution =
        port.agent
            .services()
            .ask(
                to.port.gid(),
                Stranger.serviceRequest(run, 0, 0, DATAGRAMS),
                run.moment(MOST_TIMEOUT_MILLIS),
                made);
    if (run.oneIn(5)) {
      run.after(
          run.moment(1_000),
          () -> {
            resolution.withdraw();
            made.ended = true;
          });
    }
  }

  @Override
  public boolean asked(ServiceResolution resolution, ServiceRequest request) {
    if (run.oneIn(20)) {
      return false;
    }
    undecided.add(resolution);
    if (!run.oneIn(5)) {
      run.after(
          run.moment(run.oneIn(3) ? 3_000 : 1),
          () -> {
            undecided.remove(resolution);
            resolution.answer(
                Stranger.serviceReply(
                    0, run.random.nextBoolean() ? ServiceReply.NAMED : ServiceReply.REJECTED));
          });
    }
    return true;
  }

  void checkQuestions(PeerLimits limits) {
    RandomCmRun.expect(undecided.size() <= limits.halfOpen(), "undecided: " + undecided.size());
    for (ServiceResolution each : undecided) {
      int ofPeer = 0;
      for (ServiceResolution other : undecided) {
        ofPeer += UdpGid.areNeighbors(each.peer(), other.peer()) ? 1 : 0;
      }
      RandomCmRun.expect(
          ofPeer <= limits.halfOpenPerPeer(), "undecided of " + each.peer() + ": " + ofPeer);
    }
  }

  /** A request for the number of a queue pair. */
  static final class Question implements ServiceUser {
    boolean ended;

    @Override
    public void answered(ServiceReply reply) {
      end();
    }

    @Override
    public void unreachable(int why) {
      end();
    }

    private void end() {
      if (ended) {
        throw new AssertionError("a question is told two ends");
      }
      ended = true;
    }
  }
}
