// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.emulated.crypto.SessionKeys;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.iwarp.IwarpQueuePair;
import io.verbena.emulated.iwarp.StreamUser;
import io.verbena.emulated.iwarp.TcpStream;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.emulated.iwarp.frame.MpaFrame.Depths;
import io.verbena.emulated.iwarp.stream.StreamTerms;
import io.verbena.emulated.iwarp.stream.StreamTerms.Role;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.tcp.SimulatedTcp;
import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint of an iWARP connection. Its model differs from that of RC: a SEND or WRITE succeeds
 * when TCP has taken it, so only a later READ, or a later message that was received, proves that it
 * was executed; a request that the peer rejects ends the stream, and is flushed if it fails at all;
 * and a message without a posted receive ends the stream too.
 */
final class StreamEndpoint extends ReliableEndpoint {
  private static final int PRIVATE_BYTES = 16;
  private static final SharedSecret KEY = SharedSecret.of(new byte[SharedSecret.LEAST]);

  private State state = State.CONNECTING;

  private enum State {
    CONNECTING,
    CONNECTED,
    FAILED
  }

  StreamEndpoint(
      VerbsSimulation simulation,
      Arena arena,
      int index,
      ConnectionConfig config,
      int reads,
      PostedReceives receives) {
    super(simulation, arena, index, config, reads, receives);
  }

  @Override
  StreamEndpoint peer() {
    return (StreamEndpoint) super.peer();
  }

  // ---- the connection

  /** Begins the connection when the second endpoint is ready. */
  @Override
  void connectTo(Gid to) {
    pair()
        .modify(
            to(QueuePairState.INIT)
                .pkeyIndex(0)
                .port(1)
                .access(EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC)));
    if (side == 1) {
      peer().begin(this);
    }
  }

  private void begin(StreamEndpoint passive) {
    SimulatedTcp tcp = simulation.tcp();
    Active user = new Active();
    user.stream =
        tcp.connect(
            index / 2,
            config.device(side),
            config.device(1 - side),
            request(),
            user,
            passive.listener());
  }

  private TcpStream.Asked listener() {
    return new Passive();
  }

  private MpaFrame request() {
    return new MpaFrame(
        MpaFrame.Kind.REQUEST,
        MpaFrame.ENHANCED_REVISION,
        /* markers= */ false,
        config.crc(),
        /* rejects= */ false,
        asksForExtensions(),
        Depths.of(config.reads(), config.reads()).readyByWrite(),
        ByteBuffer.allocate(config.sends() % PRIVATE_BYTES));
  }

  /**
   * Returns whether the active end asks for the extensions of RFC 7306. It also does so on some
   * connections without extensions, where the passive end refuses them.
   */
  private boolean asksForExtensions() {
    return config.extensions() || config.sends() % 2 == 0;
  }

  private StreamTerms terms(Role role) {
    return new StreamTerms(config.crc(), config.extensions(), config.reads(), config.reads(), role);
  }

  private QueuePairAttributes granted() {
    return new QueuePairAttributes()
        .maxDestinationReadAtomic(config.reads())
        .maxReadAtomic(config.reads());
  }

  /** Locks a stream before a queue pair takes it, with keys derived from its MPA frames. */
  private void lock(TcpStream stream, boolean active, MpaFrame reply) {
    if (config.locked()) {
      byte[] asked = request().bytes().array();
      SessionKeys session = SessionKeys.of(KEY, active, asked, reply.bytes().array());
      simulation.tcp().call(() -> stream.sealWith(session.records()));
    }
  }

  /** Runs an action after the time that a program takes to react to an event. */
  private void onEvent(Runnable action) {
    simulation.later(config.sends() * simulation.tcp().latency() / 4, action);
  }

  private void failed() {
    require(simulation.isBroken(index / 2), "could not connect");
    state = State.FAILED;
  }

  private void requireExtensions() {
    for (Capability extension : EnumSet.of(Capability.ATOMICS, Capability.IMMEDIATE_DATA)) {
      require(pair().supports(extension) == config.extensions(), "extension", extension);
    }
  }

  private IwarpQueuePair iwarp() {
    return (IwarpQueuePair) pair();
  }

  @Override
  boolean isConnecting() {
    return state == State.CONNECTING;
  }

  @Override
  boolean isConnected() {
    return state == State.CONNECTED;
  }

  /** The connection manager's part at the active end. */
  private final class Active implements StreamUser {
    private @Nullable TcpStream stream;

    @Override
    public void accepted(MpaFrame reply) {
      require(
          !reply.rejects()
              && reply.crc() == config.crc()
              && reply.extensions() == config.extensions(),
          "reply",
          reply);
      onEvent(
          () -> {
            TcpStream own = stream;
            if (own != null && state == State.CONNECTING) {
              lock(own, /* active= */ true, reply);
              iwarp().connect(own, terms(Role.ACTIVE_WRITES_FIRST), QueuePairState.RTS, granted());
              requireExtensions();
              state = State.CONNECTED;
            }
          });
    }

    @Override
    public void refused(MpaFrame reply) {
      require(false, "refused", reply);
    }

    @Override
    public void nobodyListens() {
      require(false, "nobody listens");
    }

    @Override
    public void failed(int errno) {
      StreamEndpoint.this.failed();
    }

    @Override
    public void established() {
      require(false, "established by the peer at the active end");
    }

    @Override
    public void ended() {
      require(pair().state() == QueuePairState.ERR || isClosed(), "ended", pair().state());
    }
  }

  /** The connection manager's part at the passive end. */
  private final class Passive implements StreamUser, TcpStream.Asked {
    @Override
    public void requested(TcpStream stream, MpaFrame request) {
      require(request.equals(request()), "request", request);
      stream.offeredTo(this);
      onEvent(
          () -> {
            if (state == State.CONNECTING) {
              MpaFrame reply = reply(request);
              lock(stream, /* active= */ false, reply);
              iwarp().connect(stream, terms(Role.PASSIVE), QueuePairState.RTR, granted());
              requireExtensions();
              simulation.tcp().call(() -> stream.answer(reply));
            }
          });
    }

    private MpaFrame reply(MpaFrame request) {
      return new MpaFrame(
          MpaFrame.Kind.REPLY,
          request.revision(),
          /* markers= */ false,
          request.crc(),
          /* rejects= */ false,
          config.extensions(),
          Depths.of(config.reads(), config.reads()).readyByWrite(),
          ByteBuffer.allocate(config.sends() % PRIVATE_BYTES));
    }

    @Override
    public void withdrawn(TcpStream stream) {
      StreamEndpoint.this.failed();
    }

    @Override
    public void established() {
      onEvent(
          () -> {
            if (state == State.CONNECTING && pair().state() == QueuePairState.RTR) {
              iwarp().ready();
              state = State.CONNECTED;
            }
          });
    }

    /** The stream may end before the established event, if it breaks at its first message. */
    @Override
    public void ended() {
      require(pair().state() == QueuePairState.ERR || isClosed(), "ended", pair().state());
      if (state == State.CONNECTING) {
        StreamEndpoint.this.failed();
      }
    }

    @Override
    public void accepted(MpaFrame reply) {
      require(false, "accepted at the passive end", reply);
    }

    @Override
    public void refused(MpaFrame reply) {
      require(false, "refused at the passive end", reply);
    }

    @Override
    public void nobodyListens() {
      require(false, "nobody listens at the passive end");
    }

    @Override
    public void failed(int errno) {
      StreamEndpoint.this.failed();
    }
  }

  // ---- the model

  @Override
  boolean isExecutedWhenDone(OperationKind kind) {
    return hasResult(kind);
  }

  @Override
  void arrived(PostedRequest message) {
    executedUpTo(message);
  }

  @Override
  void requireReason(PostedRequest post, CompletionStatus status, boolean mayBeRefused) {
    require(false, status.name(), post);
  }

  /** {@inheritDoc} A failure of one end ends the stream, and so both ends. */
  @Override
  boolean mayHaveFailed() {
    return super.mayHaveFailed()
        || peer().hasMetFailure()
        || simulation.isBroken(index / 2)
        || simulation.hasLateReceives();
  }

  private boolean hasMetFailure() {
    return super.mayHaveFailed();
  }

  /** Also checks that a stream is open if it had no reason to end, and ended if it is broken. */
  @Override
  void requireIdle() {
    super.requireIdle();
    if (!closed) {
      QueuePairState now = pair().state();
      require(
          now == QueuePairState.ERR || !simulation.isBroken(index / 2) || isUnused(now),
          "broken, and",
          now);
      require(now == QueuePairState.RTS || mayHaveFailed(), "no reason for", now);
    }
  }

  /** Returns whether the queue pair never got a stream. */
  private boolean isUnused(QueuePairState now) {
    return state == State.FAILED && now == QueuePairState.INIT;
  }
}
