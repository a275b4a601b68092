// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.ToolFailure;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;

/** A channel over TCP, with addresses as text. The caller closes the socket. */
final class TcpChannel implements PerftestChannel {
  private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};

  private final Socket socket;
  private final DataInputStream in;
  private final OutputStream out;

  TcpChannel(Socket socket) throws IOException {
    this.socket = socket;
    in = new DataInputStream(socket.getInputStream());
    out = socket.getOutputStream();
  }

  @Override
  public void write(byte[] message) throws IOException {
    out.write(message);
  }

  @Override
  public byte[] read(int length) throws IOException {
    byte[] message = new byte[length];
    in.readFully(message);
    return message;
  }

  @Override
  public byte[] readAny() throws IOException {
    byte[] first = read(PerftestAddress.FIRST);
    if (Arrays.equals(first, DONE)) {
      return first;
    }
    boolean isAddress = first[first.length - 1] == ':';
    byte[] whole = Arrays.copyOf(first, isAddress ? PerftestAddress.LENGTH : Long.BYTES);
    in.readFully(whole, first.length, whole.length - first.length);
    return whole;
  }

  @Override
  public boolean isSpokenTo() throws IOException {
    return in.available() > 0;
  }

  @Override
  public void waitAtMost(Duration limit) throws IOException {
    socket.setSoTimeout((int) Math.min(Integer.MAX_VALUE, limit.toMillis()));
  }

  @Override
  public byte[] encode(PerftestAddress address) {
    return address.toText();
  }

  @Override
  public PerftestAddress decode(byte[] message) throws ToolFailure {
    return PerftestAddress.ofText(message);
  }

  @Override
  public int addressLength() {
    return PerftestAddress.LENGTH;
  }

  @Override
  public byte[] lastMessage() {
    return DONE.clone();
  }
}
