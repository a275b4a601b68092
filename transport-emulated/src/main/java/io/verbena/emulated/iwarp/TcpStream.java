// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import io.verbena.emulated.crypto.RecordCipher;
import io.verbena.emulated.engine.Timeline;
import io.verbena.emulated.iwarp.frame.MpaFault;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.emulated.iwarp.stream.StreamEngine;
import io.verbena.verbs.ConnectionEvent;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * A TCP connection from its start to its end. For threads that have entered the fabric.
 *
 * <pre>{@code
 * active                                      passive
 * CONNECTING                                  ASKED
 *    | TCP connects: request                     | request is there
 * ASKING                                      OFFERED
 *    | reply is there                            | the program accepts: reply
 * ANSWERED                                       |
 *    | queue pair takes it                       |
 * RUNNING  <-------------------------------------+
 *    | the engine ends, or the queue pair leaves
 * SENDING_REST -- timeout: reset --------------------+
 *    | all is out: FIN                               v
 * CLOSING -- the peer's FIN, or timeout ----------> CLOSED <-- any error, before or after
 * }</pre>
 *
 * In SENDING_REST the stream itself has the bytes that the full socket did not take, up to the
 * TERMINATE, or sealed records. It needs neither the engine nor the queue pair any more. If the
 * peer does not take a TERMINATE in time, the stream sends no FIN, which would mean that all bytes
 * had been sent.
 *
 * <p>In CLOSING the stream waits for the peer's FIN, and drops bytes that still come: a socket that
 * is closed with unread bytes resets the connection, and the peer might lose bytes that this end
 * had sent (RFC 1122, section 4.2.2.13).
 */
public final class TcpStream implements SocketSelector.Selected {
  /** {@code -ECONNRESET}: the peer closed the connection. */
  public static final int CONNECTION_RESET = -104;

  /** {@code -ENETUNREACH}: the network has no route to the peer. */
  public static final int NO_WAY = -101;

  private static final int NO_ROUTE = -113;
  private static final long ASKING_NANOS = 5_000_000_000L;
  private static final long SENDING_REST_NANOS = 2_000_000_000L;
  private static final long CLOSING_NANOS = 2_000_000_000L;

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  /** The most reads of unwanted bytes in a turn. */
  private static final int DRAINING_READS = 16;

  private final StreamFabric fabric;
  private final StreamSocket socket;

  /** The channels of the queue pair's bytes: the socket's own, unless the stream is locked. */
  private ScatteringByteChannel input;

  private GatheringByteChannel output;
  private @Nullable SealedOutput seals;

  /** The input of a locked stream, else null. */
  private @Nullable SealedInput sealed;

  private final Timeline.Alarm alarm;
  private final ByteBuffer frame = ByteBuffer.allocate(MpaFrame.MAX_LENGTH);
  private @Nullable StreamUser user;
  private @Nullable Asked asked;
  private @Nullable MpaFrame request;
  private @Nullable IwarpQueuePair pair;
  private boolean established;

  /** The bytes to send in SENDING_REST. */
  private ByteBuffer rest = NOTHING;

  private boolean halfOpen;
  private State state;
  private volatile @Nullable InetSocketAddress local;

  private enum State {
    CONNECTING,
    ASKING,
    ANSWERED,
    ASKED,
    OFFERED,
    RUNNING,
    SENDING_REST,
    CLOSING,
    CLOSED
  }

  /** Receives the requests that come to a port. */
  public interface Asked {
    /** Called when a complete request has come. */
    void requested(TcpStream stream, MpaFrame request);

    /** Called when a stream has ended before a program took its request. */
    void withdrawn(TcpStream stream);
  }

  private TcpStream(StreamFabric fabric, StreamSocket socket, State state) {
    this.fabric = fabric;
    this.socket = socket;
    this.state = state;
    input = socket.input();
    output = socket.output();
    alarm = fabric.time().alarm(this::late);
  }

  /** Returns the active end of a connection, which {@link #begin} starts. */
  public static TcpStream active(
      StreamFabric fabric, StreamSocket socket, MpaFrame request, StreamUser user) {
    TcpStream stream = new TcpStream(fabric, socket, State.CONNECTING);
    stream.request = request;
    stream.user = user;
    return stream;
  }

  /** Returns the passive end of an accepted connection, which {@link #begin} starts. */
  public static TcpStream passive(StreamFabric fabric, StreamSocket socket, Asked asked) {
    TcpStream stream = new TcpStream(fabric, socket, State.ASKED);
    stream.asked = asked;
    stream.halfOpen = true;
    stream.expect(MpaFrame.HEADER_LENGTH);
    return stream;
  }

  /** Returns the socket of the stream. */
  public StreamSocket socket() {
    return socket;
  }

  /**
   * Seals the stream: the bytes after the MPA frames travel in sealed records, the frames
   * themselves do not. Called before a queue pair takes the stream.
   */
  public void sealWith(RecordCipher cipher) {
    SealedInput opens = new SealedInput(socket.input(), cipher, fabric.workspace());
    sealed = opens;
    input = opens;
    seals = new SealedOutput(socket.output(), cipher, fabric.workspace());
    output = seals;
  }

  /** Returns the channel from the peer, for the bytes after the MPA frames. */
  ScatteringByteChannel input() {
    return input;
  }

  /** Returns the channel to the peer, for the bytes after the MPA frames. */
  GatheringByteChannel output() {
    return output;
  }

  /** Returns whether there is input that has left the socket, so that no selector reports it. */
  boolean hasMore() {
    SealedInput ours = sealed;
    return ours != null && ours.hasMore();
  }

  /** Returns the address of this end, or null before the stream has begun; for any thread. */
  public @Nullable InetSocketAddress local() {
    return local;
  }

  /** Passive end: returns the address of the peer. */
  public InetSocketAddress remote() {
    return socket.remote();
  }

  /**
   * Starts to use the socket.
   *
   * @param nanos of an active end: the time within which the peer must have answered
   */
  public void begin(long nanos) {
    local = socket.local();
    switch (state) {
      case CONNECTING -> {
        socket.interest(OP_CONNECT);
        deadline(nanos);
        // A connection to this machine is established at once.
        boolean unused = connect();
      }
      default -> {
        socket.interest(OP_READ);
        deadline(ASKING_NANOS);
      }
    }
  }

  private void deadline(long nanos) {
    long end = fabric.time().now() + nanos;
    alarm.set(end < 0 ? Long.MAX_VALUE : end);
  }

  private void late() {
    switch (state) {
      case CONNECTING, ASKING -> fail(ConnectionEvent.TIMED_OUT);
      case SENDING_REST -> {
        // A reset drops the bytes in the socket, too; waiting records alone do not justify that.
        if (rest.hasRemaining()) {
          socket.resetAtClose();
        }
        close();
      }
      default -> close();
    }
  }

  @Override
  public boolean ready(int operations) {
    return switch (state) {
      case CONNECTING -> connect();
      case ASKING, ASKED -> readFrame();
      case ANSWERED, OFFERED -> readNothing();
      case RUNNING -> {
        IwarpQueuePair carried = pair;
        if (carried == null) {
          yield false;
        }
        if ((operations & OP_WRITE) != 0) {
          carried.writable();
        }
        yield (operations & OP_READ) == 0 || carried.receive();
      }
      case SENDING_REST -> sendRest();
      case CLOSING -> drain();
      case CLOSED -> false;
    };
  }

  // ---- the start

  private boolean connect() {
    MpaFrame asks = request;
    try {
      if (asks == null || !socket.finishConnect()) {
        return false;
      }
    } catch (IOException e) {
      notConnected(e);
      return true;
    }
    try {
      send(asks);
    } catch (IOException e) {
      fail(CONNECTION_RESET);
      return true;
    }
    local = socket.local();
    expect(MpaFrame.HEADER_LENGTH);
    state = State.ASKING;
    socket.interest(OP_READ);
    return true;
  }

  /**
   * Fails with the kernel's error, of which the JDK shows only the message. Only a refusal and a
   * reset come from the peer; all other errors come from the network.
   */
  private void notConnected(IOException error) {
    String message = String.valueOf(error.getMessage());
    if (message.contains("timed out")) {
      fail(ConnectionEvent.TIMED_OUT);
    } else if (error instanceof ConnectException) {
      StreamUser who = user;
      close();
      if (who != null) {
        who.nobodyListens();
      }
    } else if (error instanceof NoRouteToHostException) {
      fail(NO_ROUTE);
    } else {
      // A peer that closes before it resets leaves a broken pipe.
      boolean ofPeer = message.contains("reset") || message.contains("Broken pipe");
      fail(ofPeer ? CONNECTION_RESET : NO_WAY);
    }
  }

  /** Sends a whole frame, for which a fresh socket has room. */
  private void send(MpaFrame whole) throws IOException {
    ByteBuffer bytes = whole.bytes();
    int length = bytes.remaining();
    int sent = socket.output().write(bytes);
    if (sent < length) {
      throw new IOException("the socket took " + sent + " bytes of a frame of " + length);
    }
  }

  private void expect(int length) {
    frame.limit(length);
  }

  /** Reads the frame, and no byte beyond it: the next bytes are for the engine. */
  private boolean readFrame() {
    MpaFrame.Kind kind = state == State.ASKED ? MpaFrame.Kind.REQUEST : MpaFrame.Kind.REPLY;
    int came;
    try {
      came = socket.input().read(frame);
    } catch (IOException e) {
      fail(CONNECTION_RESET);
      return true;
    }
    if (came < 0) {
      fail(CONNECTION_RESET);
      return true;
    }
    ByteBuffer read = frame.duplicate().flip();
    MpaFault fault = MpaFrame.check(kind, read);
    switch (fault) {
      case NONE -> {
        alarm.cancel();
        take(MpaFrame.parse(kind, read));
      }
      case TOO_SHORT -> {
        if (!frame.hasRemaining()) {
          expect(MpaFrame.length(read));
          return readFrame();
        }
      }
      default -> fail(CONNECTION_RESET);
    }
    return came > 0;
  }

  private void take(MpaFrame whole) {
    if (state == State.ASKED) {
      takeRequest(whole);
    } else {
      takeReply(whole);
    }
  }

  /**
   * Takes a request. Refuses markers, which only old RNICs request, and a first message that can be
   * neither a WRITE nor a READ.
   */
  private void takeRequest(MpaFrame whole) {
    Asked by = asked;
    MpaFrame.Depths depths = whole.depths();
    boolean cannotBeReady = depths.peerToPeer() && !depths.byWrite() && !depths.byRead();
    if (by == null || whole.markers() || cannotBeReady) {
      refuse(whole.refusal(NOTHING));
      return;
    }
    request = whole;
    state = State.OFFERED;
    by.requested(this, whole);
  }

  private void takeReply(MpaFrame whole) {
    StreamUser who = user;
    if (who == null) {
      close();
    } else if (whole.rejects()) {
      close();
      who.refused(whole);
    } else if (whole.markers()) {
      fail(CONNECTION_RESET);
    } else {
      state = State.ANSWERED;
      who.accepted(whole);
    }
  }

  /**
   * Fails the stream if the peer, which must wait, has sent bytes or left; returns whether it has.
   */
  private boolean readNothing() {
    ByteBuffer one = ByteBuffer.allocate(1);
    try {
      if (socket.input().read(one) == 0) {
        return false;
      }
    } catch (IOException e) {
      // Handled like the end of the stream.
    }
    fail(CONNECTION_RESET);
    return true;
  }

  /** Passive end: returns whether the peer still waits for an answer. */
  public boolean stillAsks() {
    return state == State.OFFERED && !readNothing();
  }

  /** Passive end: sets the user, to which the end of the stream is reported from now on. */
  public void offeredTo(StreamUser program) {
    user = program;
    asked = null;
    noLongerHalfOpen();
  }

  /** Passive end: refuses the request. */
  public void reject(ByteBuffer privateData) {
    MpaFrame asks = request;
    if (asks != null) {
      reject(asks.refusal(privateData));
    }
  }

  /** Passive end: refuses the request, if the request still waits for an answer. */
  public void reject(MpaFrame refusal) {
    if (state == State.OFFERED) {
      refuse(refusal);
    }
  }

  private void refuse(MpaFrame refusal) {
    try {
      send(refusal);
    } catch (IOException e) {
      close();
      return;
    }
    user = null;
    state = State.RUNNING;
    shut();
  }

  /** Passive end: accepts the request, after a queue pair has taken the stream. */
  public void answer(MpaFrame reply) {
    if (state != State.RUNNING) {
      return;
    }
    try {
      send(reply);
    } catch (IOException e) {
      close();
    }
  }

  /**
   * Active end: closes the stream, if no queue pair has taken it. Otherwise does nothing: sent
   * bytes may have to arrive first.
   */
  public void leave() {
    switch (state) {
      case CONNECTING, ASKING, ANSWERED -> close();
      default -> {}
    }
  }

  /** Gives the stream to a queue pair. */
  void carries(IwarpQueuePair taker) {
    if (state != State.ANSWERED && state != State.OFFERED) {
      taker.lost();
      return;
    }
    pair = taker;
    established = state == State.ANSWERED;
    state = State.RUNNING;
    fabric.runs(this);
    socket.interest(OP_READ);
  }

  // ---- the end

  /** Acts on the engine's state; called after each call of the engine. */
  void settle(StreamEngine engine) {
    if (state != State.RUNNING) {
      return;
    }
    StreamUser who = user;
    if (engine.hasOpened() && !established && who != null) {
      established = true;
      who.established();
    }
    switch (engine.state()) {
      case WAITING -> {}
      case OPEN -> socket.interest(engine.isFull() ? OP_READ | OP_WRITE : OP_READ);
      case ENDING -> {
        // Otherwise the engine sends the rest in its next turn.
        if (engine.isFull()) {
          shut(engine.takeRest());
        }
      }
      case IDLE, ENDED -> shut();
    }
  }

  /** Ends sending, and closes the stream when the peer has ended, too. */
  void shut() {
    shut(NOTHING);
  }

  /** Does the same as {@link #shut()}, after the socket has taken these bytes. */
  private void shut(ByteBuffer last) {
    if (state != State.RUNNING) {
      return;
    }
    StreamUser who = user;
    user = null;
    pair = null;
    rest = last;
    fabric.stops(this);
    state = State.SENDING_REST;
    if (who != null) {
      who.ended();
    }
    deadline(SENDING_REST_NANOS);
    // A program that refuses does not drive, and a peer that sends nothing more does not wake the
    // driver.
    fabric.wake();
    boolean unused = sendRest();
  }

  private boolean sendRest() {
    try {
      if (hasRest()) {
        int sent = output.write(rest);
        if (hasRest()) {
          socket.interest(OP_WRITE);
          return sent > 0;
        }
      }
      socket.shutdownOutput();
    } catch (IOException e) {
      close();
      return true;
    }
    state = State.CLOSING;
    rest = NOTHING;
    socket.interest(OP_READ);
    deadline(CLOSING_NANOS);
    boolean unused = drain();
    return true;
  }

  /** Returns whether bytes of completed requests still wait for the socket. */
  private boolean hasRest() {
    SealedOutput records = seals;
    return rest.hasRemaining() || (records != null && records.hasRest());
  }

  private boolean drain() {
    try {
      for (int i = 0; i < DRAINING_READS; i++) {
        int came = socket.input().read(fabric.waste());
        if (came == 0) {
          return i > 0;
        }
        if (came < 0) {
          close();
          return true;
        }
      }
      return true;
    } catch (IOException e) {
      // Then there is nothing more to wait for.
    }
    close();
    return true;
  }

  private void fail(int errno) {
    StreamUser who = user;
    Asked by = asked;
    close();
    if (who != null) {
      who.failed(errno);
    } else if (by != null) {
      by.withdrawn(this);
    }
  }

  /** Closes the stream at once. Idempotent. */
  public void close() {
    if (state == State.CLOSED) {
      return;
    }
    StreamUser who = state == State.RUNNING ? user : null;
    state = State.CLOSED;
    user = null;
    rest = NOTHING;
    alarm.cancel();
    noLongerHalfOpen();
    IwarpQueuePair carried = pair;
    pair = null;
    fabric.closed(this);
    if (carried != null) {
      carried.lost();
    }
    if (who != null) {
      who.ended();
    }
  }

  private void noLongerHalfOpen() {
    if (halfOpen) {
      halfOpen = false;
      fabric.notHalfOpen();
    }
  }
}
