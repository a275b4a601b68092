// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.iwarp.capture.TcpCapture;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import org.jspecify.annotations.Nullable;

/** A socket whose bytes are captured as it sends and receives them. */
final class CapturedSocket implements StreamSocket {
  private final StreamSocket socket;
  private final TcpCapture capture;
  private final boolean active;
  private final Captured captured = new Captured();

  /**
   * Null before the socket is connected, and if the other end of the stream captures both
   * directions.
   */
  private TcpCapture.@Nullable Stream stream;

  private CapturedSocket(StreamSocket socket, TcpCapture capture, boolean active) {
    this.socket = socket;
    this.capture = capture;
    this.active = active;
  }

  /** Returns a socket that connects. */
  static CapturedSocket active(StreamSocket socket, TcpCapture capture) {
    return new CapturedSocket(socket, capture, true);
  }

  /** Returns a socket that was accepted. */
  static CapturedSocket passive(StreamSocket socket, TcpCapture capture) {
    CapturedSocket accepted = new CapturedSocket(socket, capture, false);
    accepted.stream = capture.begin(socket.remote(), socket.local());
    return accepted;
  }

  @Override
  public ScatteringByteChannel input() {
    return captured;
  }

  @Override
  public GatheringByteChannel output() {
    return captured;
  }

  @Override
  public boolean finishConnect() throws IOException {
    boolean connected = socket.finishConnect();
    if (connected && stream == null) {
      stream = capture.begin(socket.local(), socket.remote());
    }
    return connected;
  }

  @Override
  public void interest(int operations) {
    socket.interest(operations);
  }

  @Override
  public void shutdownOutput() throws IOException {
    socket.shutdownOutput();
    ends(active);
  }

  @Override
  public InetSocketAddress local() {
    return socket.local();
  }

  @Override
  public InetSocketAddress remote() {
    return socket.remote();
  }

  @Override
  public void resetAtClose() {
    socket.resetAtClose();
    TcpCapture.Stream ours = stream;
    if (ours != null) {
      ours.reset(active);
    }
  }

  @Override
  public void close() throws IOException {
    ends(active);
    TcpCapture.Stream ours = stream;
    if (ours != null) {
      ours.close();
    }
    socket.close();
  }

  private void ends(boolean byActive) {
    TcpCapture.Stream ours = stream;
    if (ours != null) {
      ours.end(byActive);
    }
  }

  private IOException broken(IOException why) {
    TcpCapture.Stream ours = stream;
    if (ours != null) {
      ours.reset(!active);
    }
    return why;
  }

  /** The channel for the socket's input and output. */
  private final class Captured implements ScatteringByteChannel, GatheringByteChannel {
    private final ByteBuffer[] one = new ByteBuffer[1];
    private int[] positions = new int[4];

    @Override
    public long write(ByteBuffer[] from, int offset, int count) throws IOException {
      note(from, offset, count);
      try {
        long written = socket.output().write(from, offset, count);
        captured(active, from, offset, count);
        return written;
      } catch (IOException e) {
        throw broken(e);
      }
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int count) throws IOException {
      note(into, offset, count);
      try {
        long read = socket.input().read(into, offset, count);
        if (read < 0) {
          ends(!active);
        } else {
          captured(!active, into, offset, count);
        }
        return read;
      } catch (IOException e) {
        throw broken(e);
      }
    }

    private void note(ByteBuffer[] buffers, int offset, int count) {
      if (positions.length < count) {
        positions = new int[count];
      }
      for (int i = 0; i < count; i++) {
        positions[i] = buffers[offset + i].position();
      }
    }

    private void captured(boolean byActive, ByteBuffer[] buffers, int offset, int count) {
      TcpCapture.Stream ours = stream;
      for (int i = 0; ours != null && i < count; i++) {
        ByteBuffer each = buffers[offset + i];
        ours.bytes(byActive, each, positions[i], each.position());
      }
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
      return socket.output().isOpen();
    }

    @Override
    public void close() throws IOException {
      CapturedSocket.this.close();
    }
  }
}
