// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.iwarp;

import io.verbena.emulated.address.IwarpAddress;
import io.verbena.emulated.cm.DrivenIdentifier;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.emulated.iwarp.IwarpQueuePair;
import io.verbena.emulated.iwarp.StreamUser;
import io.verbena.emulated.iwarp.TcpStream;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.emulated.iwarp.frame.MpaFrame.Depths;
import io.verbena.emulated.iwarp.stream.StreamTerms;
import io.verbena.emulated.iwarp.stream.StreamTerms.Role;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.ConnectionLimits;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection over TCP.
 *
 * <pre>{@code
 * active                                     passive
 * RESOLVED                                   REQUESTED
 *    | connect: TCP, MPA request                | accept: RTR, MPA reply     | reject, close:
 * CONNECTING -- reply that rejects           ACCEPTING                       | reply that rejects
 *    | reply: RTS, an empty WRITE               | first FPDU: RTS            |
 * ESTABLISHED                                ESTABLISHED                     |
 *    | disconnect, close: FIN; the peer's       |                            |
 * ENDED  <--------------------------------------+----------------------------+
 * }</pre>
 *
 * If the peer does not ask for an empty first message (RFC 6581, section 9), accepting establishes
 * the connection at once. ACCEPTING has no deadline, as in the kernel's siw: the program decides
 * how long a client may be silent, and closes the identifier.
 */
final class IwarpConnection extends DrivenIdentifier implements StreamUser {
  private final IwarpConnectionManager manager;
  private final InetSocketAddress peer;
  private final boolean crc;
  private final boolean extensions;
  private final @Nullable MpaFrame request;

  /** At an active end, the local address to connect from, or null for any; else null. */
  private final @Nullable InetAddress source;

  /**
   * At an active end, the key that the peer must also have, or null to connect without a lock; else
   * null.
   */
  private final @Nullable SharedSecret key;

  /** Null without a lock, and before {@link #connect}. */
  private @Nullable MpaKeyHandshake handshake;

  private volatile @Nullable TcpStream stream;

  private IwarpConnection(
      IwarpConnectionManager manager,
      InetSocketAddress peer,
      IwarpAddress how,
      State state,
      @Nullable MpaFrame request,
      @Nullable InetAddress source,
      @Nullable SharedSecret key) {
    super(manager, PortSpace.TCP, state);
    this.manager = manager;
    this.peer = peer;
    crc = how.crc();
    extensions = how.extensions();
    this.request = request;
    this.source = source;
    this.key = key;
    manager.opened(IwarpConnectionManager.Kind.IDENTIFIER);
  }

  /**
   * Creates an active end.
   *
   * @throws VerbsException {@code INVALID} if the key of the address cannot be read
   */
  static IwarpConnection resolved(IwarpConnectionManager manager, IwarpAddress to) {
    return new IwarpConnection(
        manager,
        new InetSocketAddress(to.host(), to.port()),
        to,
        State.RESOLVED,
        null,
        to.source(),
        to.key());
  }

  /**
   * Creates a passive end and raises its request to the program. The caller has entered the fabric.
   */
  static void requested(
      IwarpConnectionManager manager,
      IwarpListener listener,
      TcpStream stream,
      MpaFrame request,
      IwarpAddress at,
      @Nullable MpaKeyHandshake handshake) {
    IwarpConnection made =
        new IwarpConnection(manager, stream.remote(), at, State.REQUESTED, request, null, null);
    made.stream = stream;
    made.handshake = handshake;
    stream.offeredTo(made);
    manager.raise(
        new ConnectionEvent(
            ConnectionEvent.Type.CONNECT_REQUEST,
            made,
            listener,
            0,
            programs(handshake, request),
            request.depths().responder(),
            request.depths().initiator()));
  }

  @Override
  public IwarpConnectionManager manager() {
    return manager;
  }

  @Override
  public String peer() {
    return IwarpAddress.text(peer);
  }

  @Override
  public @Nullable InetSocketAddress localAddress() {
    TcpStream ours = stream;
    return ours == null ? null : ours.local();
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return peer;
  }

  // ---- active end

  @Override
  public synchronized void connect(ConnectionParameters offered, long timeoutNanos) {
    check("connect", offered, ConnectionParameters.MAX_CONNECT_DATA);
    requireQueuePair("connect", State.RESOLVED);
    state = State.CONNECTING;
    parameters = offered;
    MpaFrame asks =
        new MpaFrame(
            MpaFrame.Kind.REQUEST,
            MpaFrame.ENHANCED_REVISION,
            /* markers= */ false,
            crc,
            /* rejects= */ false,
            extensions,
            Depths.of(offered.responderResources(), offered.initiatorDepth()).readyByWrite(),
            offered.privateData().duplicate());
    IwarpFabric fabric = manager.fabric();
    if (key != null) {
      MpaKeyHandshake proves = MpaKeyHandshake.active(key, asks, fabric.secrets());
      handshake = proves;
      asks = proves.request();
    }
    fabric.enter();
    try {
      InetSocketAddress from = source == null ? null : new InetSocketAddress(source, 0);
      stream = fabric.sockets().connect(from, peer, asks, timeoutNanos, this);
    } catch (ConnectException e) {
      nobodyListens();
    } catch (IOException e) {
      failed(TcpStream.NO_WAY);
    } finally {
      fabric.leave();
    }
  }

  @Override
  public void accepted(MpaFrame reply) {
    manager.note(() -> complete(reply));
  }

  private synchronized void complete(MpaFrame reply) {
    IwarpQueuePair own = (IwarpQueuePair) queuePair;
    TcpStream ours = stream;
    if (closed || state != State.CONNECTING || own == null || ours == null) {
      return;
    }
    MpaKeyHandshake proofs = handshake;
    if (proofs == null ? reply.locked() : !proofs.admits(reply)) {
      leave(ours);
      endBy(ConnectionEvent.Type.REJECTED, ConnectionEvent.REJECT_KEY, NO_DATA);
      return;
    }
    seal(ours, proofs);
    Depths its = reply.depths();
    boolean first = its.peerToPeer() && its.byWrite();
    try {
      StreamTerms terms =
          terms(reply, its, crc || reply.crc(), first ? Role.ACTIVE_WRITES_FIRST : Role.ACTIVE);
      own.connect(ours, terms, QueuePairState.RTS, attributes(terms));
    } catch (VerbsException e) {
      fail(ours);
      return;
    }
    establish(programs(proofs, reply), its.responder(), its.initiator());
  }

  private void seal(TcpStream stream, @Nullable MpaKeyHandshake accepted) {
    if (accepted != null) {
      manager.fabric().entered(() -> stream.sealWith(accepted.records()));
    }
  }

  private static ByteBuffer programs(@Nullable MpaKeyHandshake proofs, MpaFrame frame) {
    return proofs == null ? frame.privateData() : MpaKeyHandshake.programs(frame);
  }

  @Override
  public void refused(MpaFrame reply) {
    manager.note(() -> endRefused(reply));
  }

  /**
   * Ends the connection after a rejection. Any host can forge a rejection; but with a lock, the
   * program gets the private data only if a proof shows that the peer sent it.
   */
  private void endRefused(MpaFrame reply) {
    boolean proven;
    synchronized (this) {
      MpaKeyHandshake proofs = handshake;
      proven = proofs != null && proofs.isRefusal(reply);
    }
    ByteBuffer data = NO_DATA;
    if (proven) {
      data = MpaKeyHandshake.programs(reply);
    } else if (key == null && !reply.locked()) {
      data = reply.privateData();
    }
    boolean byKey = reply.locked() && !proven;
    endBefore(
        ConnectionEvent.Type.REJECTED,
        byKey ? ConnectionEvent.REJECT_KEY : ConnectionEvent.REJECT_CONSUMER_DEFINED,
        data);
  }

  @Override
  public void nobodyListens() {
    manager.note(
        () ->
            endBefore(
                ConnectionEvent.Type.REJECTED, ConnectionEvent.REJECT_INVALID_SERVICE_ID, NO_DATA));
  }

  /**
   * Ends the connection. A reset stream counts as a rejection, as in the kernel (cma.c,
   * cma_iw_handler).
   */
  @Override
  public void failed(int errno) {
    ConnectionEvent.Type type =
        errno == TcpStream.CONNECTION_RESET
            ? ConnectionEvent.Type.REJECTED
            : ConnectionEvent.Type.UNREACHABLE;
    manager.note(() -> endBefore(type, errno, NO_DATA));
  }

  private void endBefore(ConnectionEvent.Type type, int status, ByteBuffer data) {
    synchronized (this) {
      switch (state) {
        case CONNECTING -> {
          endBy(type, status, data);
          return;
        }
        case REQUESTED -> {
          state = State.ENDED;
          return;
        }
        default -> {}
      }
    }
    endByPeer();
  }

  // ---- passive end

  @Override
  public void accept(ConnectionParameters offered) {
    check("accept", offered, ConnectionParameters.MAX_ACCEPT_DATA);
    boolean waits;
    synchronized (this) {
      if (state == State.ENDED && !closed && queuePair != null && request != null) {
        raise(ConnectionEvent.Type.CONNECT_ERROR, ConnectionEvent.TIMED_OUT, NO_DATA);
        return;
      }
      IwarpQueuePair own = (IwarpQueuePair) requireQueuePair("accept", State.REQUESTED);
      MpaFrame asks = request;
      TcpStream ours = stream;
      if (asks == null || ours == null) {
        throw new AssertionError("requested without a request");
      }
      ConnectionParameters agreed = serving(offered, asks.depths());
      parameters = agreed;
      MpaKeyHandshake proofs = handshake;
      MpaFrame open = reply(asks, agreed);
      MpaFrame reply = proofs == null ? open : proofs.accept(open, manager.fabric().secrets());
      seal(ours, proofs);
      try {
        StreamTerms terms = terms(reply, asks.depths(), reply.crc(), Role.PASSIVE);
        own.connect(ours, terms, QueuePairState.RTR, attributes(terms));
      } catch (VerbsException e) {
        fail(ours);
        return;
      }
      state = State.ACCEPTING;
      waits = asks.depths().peerToPeer();
      manager.fabric().entered(() -> ours.answer(reply));
    }
    if (!waits) {
      established();
    }
  }

  /**
   * Returns the parameters with which to accept a request. A peer that gets ready by an empty READ
   * needs one responder resource, even if the program offers none.
   */
  private static ConnectionParameters serving(ConnectionParameters offered, Depths its) {
    return its.peerToPeer() && !its.byWrite() && offered.responderResources() == 0
        ? new ConnectionParameters(
            offered.privateData(),
            1,
            offered.initiatorDepth(),
            offered.retryCount(),
            offered.rnrRetryCount())
        : offered;
  }

  /**
   * Returns the reply that accepts a request; it follows the request in all that the program does
   * not decide.
   */
  private MpaFrame reply(MpaFrame asks, ConnectionParameters offered) {
    Depths its = asks.depths();
    Depths depths = Depths.ABSENT;
    if (its.present()) {
      // siw ends a connection if the reply's initiator depth exceeds its own responder resources.
      depths = Depths.of(offered.responderResources(), initiatorDepth(its));
      if (its.peerToPeer()) {
        depths = its.byWrite() ? depths.readyByWrite() : depths.readyByRead();
      }
    }
    return new MpaFrame(
        MpaFrame.Kind.REPLY,
        asks.revision(),
        /* markers= */ false,
        crc || asks.crc(),
        /* rejects= */ false,
        extensions && asks.extensions(),
        depths,
        offered.privateData().duplicate());
  }

  @Override
  public void established() {
    manager.note(this::complete);
  }

  private synchronized void complete() {
    IwarpQueuePair own = (IwarpQueuePair) queuePair;
    MpaFrame asks = request;
    if (closed || state != State.ACCEPTING || own == null || asks == null) {
      return;
    }
    try {
      own.ready();
    } catch (VerbsException e) {
      // If the peer's first message moved the queue pair to ERR, the connection was established,
      // and completions report why it ended.
      if (own.state() != QueuePairState.ERR) {
        endBy(ConnectionEvent.Type.CONNECT_ERROR, BROKEN_PIPE, NO_DATA);
        return;
      }
    }
    establish(NO_DATA, asks.depths().responder(), asks.depths().initiator());
  }

  @Override
  public synchronized void reject(ByteBuffer privateData) {
    ConnectionLimits.checkData("reject", privateData, ConnectionParameters.MAX_REJECT_DATA);
    if (state == State.ENDED && !closed && request != null && queuePair == null) {
      return;
    }
    requireState("reject", State.REQUESTED);
    state = State.ENDED;
    TcpStream ours = stream;
    MpaFrame asks = request;
    if (ours != null && asks != null) {
      MpaFrame open = asks.refusal(privateData.duplicate());
      MpaKeyHandshake proofs = handshake;
      MpaFrame refusal = proofs == null ? open : proofs.refuse(open, manager.fabric().secrets());
      manager.fabric().entered(() -> ours.reject(refusal));
    }
  }

  // ---- both

  /**
   * Returns the terms on which both ends have agreed.
   *
   * @param reply the reply, which has the extensions only if both ends have them
   */
  private StreamTerms terms(MpaFrame reply, Depths its, boolean checked, Role role) {
    return new StreamTerms(
        checked,
        extensions && reply.extensions(),
        parameters.responderResources(),
        initiatorDepth(its),
        role);
  }

  /**
   * Returns the most READs to have outstanding, limited by the number that the peer serves at once
   * (RFC 6581, section 9).
   */
  private int initiatorDepth(Depths its) {
    boolean unsaid = !its.present() || its.responder() == Depths.UNSAID;
    int own = parameters.initiatorDepth();
    return unsaid ? own : Math.min(own, its.responder());
  }

  private static QueuePairAttributes attributes(StreamTerms terms) {
    return new QueuePairAttributes()
        .maxDestinationReadAtomic(terms.responderDepth())
        .maxReadAtomic(terms.initiatorDepth());
  }

  /**
   * Ends the connection at both ends, since the queue pair is closed or its state does not allow
   * connecting.
   */
  private void fail(TcpStream ours) {
    leave(ours);
    endBy(ConnectionEvent.Type.CONNECT_ERROR, BROKEN_PIPE, NO_DATA);
  }

  private void leave(TcpStream ours) {
    manager
        .fabric()
        .entered(
            () -> {
              ours.reject(NO_DATA);
              ours.leave();
            });
  }

  @Override
  public void ended() {
    manager.note(this::endByPeer);
  }

  /** Ends the connection after the peer or the queue pair has ended it. */
  private void endByPeer() {
    synchronized (this) {
      if (state == State.ACCEPTING) {
        endBy(ConnectionEvent.Type.CONNECT_ERROR, ConnectionEvent.TIMED_OUT, NO_DATA);
        return;
      }
    }
    end(/* byUs= */ false);
  }

  @Override
  protected void giveUp() {
    EmulatedQueuePair own = queuePair;
    if (state == State.ACCEPTING && own != null) {
      // The queue pair has the stream already, and would continue to receive the peer's messages.
      own.fail();
      return;
    }
    TcpStream ours = stream;
    if (ours != null) {
      leave(ours);
    }
  }
}
