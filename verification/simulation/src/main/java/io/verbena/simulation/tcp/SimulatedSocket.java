// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.tcp;

import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import io.verbena.emulated.engine.Timeline;
import io.verbena.emulated.iwarp.StreamSocket;
import io.verbena.emulated.iwarp.TcpStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import org.jspecify.annotations.Nullable;

/** One end of a simulated connection, with the readiness that a selector would report. */
final class SimulatedSocket implements StreamSocket {
  private final SimulatedTcp network;
  private final int connection;
  private final OneWay in;
  private final OneWay out;
  private final Channel channel = new Channel();
  private final Timeline.Alarm alarm;
  private @Nullable SimulatedSocket peer;
  private @Nullable TcpStream stream;
  private int interest;
  private boolean willTell;
  private boolean connected;
  private boolean broken;
  private boolean closed;
  private boolean resetsAtClose;

  SimulatedSocket(SimulatedTcp network, int connection, OneWay in, OneWay out) {
    this.network = network;
    this.connection = connection;
    this.in = in;
    this.out = out;
    alarm = network.time().alarm(this::notifyStream);
  }

  void connect(SimulatedSocket to) {
    peer = to;
    to.peer = this;
  }

  /** Returns the number of its connection. */
  int connection() {
    return connection;
  }

  OneWay out() {
    return out;
  }

  SimulatedSocket peer() {
    SimulatedSocket other = peer;
    if (other == null) {
      throw new IllegalStateException("not connected yet");
    }
    return other;
  }

  /** Sets the stream that uses the socket. */
  void carries(TcpStream of) {
    stream = of;
  }

  // ---- readiness

  /** Called when TCP has connected. */
  void connected() {
    connected = true;
    check();
  }

  @Override
  public void interest(int operations) {
    interest = operations;
    check();
  }

  private int ready() {
    if (closed) {
      return 0;
    }
    int operations =
        (connected ? OP_CONNECT : 0)
            | (in.waiting() > 0 || in.hasEndArrived() ? OP_READ : 0)
            | (out.room() > 0 ? OP_WRITE : 0);
    // A selector reports an error as readiness for every operation of the interest set.
    return (broken ? OP_CONNECT | OP_READ | OP_WRITE : operations) & interest;
  }

  /** Schedules a report to the stream if the socket is ready. */
  private void check() {
    if (!willTell && ready() != 0) {
      willTell = true;
      alarm.set(network.time().now() + network.reactionTime(in));
    }
  }

  private void notifyStream() {
    willTell = false;
    int operations = ready();
    TcpStream ready = stream;
    if (ready != null && operations != 0) {
      // The fabric also tries to read from streams that the selector did not report.
      boolean tries = network.runsNow(ready) && in.choose(8) == 0;
      boolean unused = ready.ready(operations | (tries ? OP_READ : 0));
    }
    check();
  }

  // ---- what arrives

  void bytesArrive(int bytes) {
    if (closed || broken) {
      // A kernel answers bytes to a closed socket with a reset.
      network.after(network.latency(), peer()::breaks);
      return;
    }
    in.arrived(bytes);
    check();
  }

  void endArrives() {
    in.endArrived();
    check();
  }

  /** Called when the connection was reset. Bytes that arrived and were not read may be lost. */
  void breaks() {
    if (!broken && !closed) {
      broken = true;
      if (in.choose(2) == 0) {
        in.dropUnread();
      }
      check();
    }
  }

  // ---- calls of the stream

  @Override
  public boolean finishConnect() {
    return connected;
  }

  @Override
  public ScatteringByteChannel input() {
    return channel;
  }

  @Override
  public GatheringByteChannel output() {
    return channel;
  }

  private long write(ByteBuffer[] from, int offset, int count) throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
    if (broken || out.isEnded()) {
      throw new IOException("Broken pipe");
    }
    int length = out.write(from, offset, count);
    network.carry(this, length);
    return length;
  }

  private long read(ByteBuffer[] into, int offset, int count) throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
    if (in.waiting() == 0) {
      if (broken) {
        throw new IOException("Connection reset");
      }
      return in.hasEndArrived() ? -1 : 0;
    }
    int length = in.read(into, offset, count);
    peer().check();
    return length;
  }

  @Override
  public void shutdownOutput() throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
    if (broken) {
      throw new IOException("Transport endpoint is not connected");
    }
    sendEnd();
  }

  private void sendEnd() {
    if (out.end()) {
      network.afterBytes(out, peer()::endArrives);
    }
  }

  @Override
  public void resetAtClose() {
    resetsAtClose = true;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Unread received bytes turn the close into a reset, at which the peer may lose bytes that
   * this end has sent.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    alarm.cancel();
    if (broken) {
      return;
    }
    if (resetsAtClose || in.waiting() > 0) {
      network.afterBytes(out, peer()::breaks);
    } else {
      sendEnd();
    }
  }

  @Override
  public InetSocketAddress local() {
    return network.address(out.source);
  }

  @Override
  public InetSocketAddress remote() {
    return network.address(out.destination);
  }

  /** The channel that the stream reads from and writes to. */
  private final class Channel implements ScatteringByteChannel, GatheringByteChannel {
    private final ByteBuffer[] one = new ByteBuffer[1];

    @Override
    public long write(ByteBuffer[] from, int offset, int count) throws IOException {
      return SimulatedSocket.this.write(from, offset, count);
    }

    @Override
    public long write(ByteBuffer[] from) throws IOException {
      return write(from, 0, from.length);
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
      one[0] = from;
      return (int) write(one, 0, 1);
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int count) throws IOException {
      return SimulatedSocket.this.read(into, offset, count);
    }

    @Override
    public long read(ByteBuffer[] into) throws IOException {
      return read(into, 0, into.length);
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
      one[0] = into;
      return (int) read(one, 0, 1);
    }

    @Override
    public boolean isOpen() {
      return !closed;
    }

    @Override
    public void close() {
      SimulatedSocket.this.close();
    }
  }
}
