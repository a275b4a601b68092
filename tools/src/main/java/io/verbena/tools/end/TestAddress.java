// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The device of an end, and the TCP address over which the two ends exchange their parameters.
 *
 * @param device the URI of its device
 * @param server the host to connect to over TCP, or null to be the server
 * @param port the TCP port; any if both ends are in this process
 * @param limit the longest time without a message
 */
public record TestAddress(URI device, @Nullable String server, int port, Duration limit) {

  /** The same device as the client of a server in this process. */
  public TestAddress clientOf(ServerSocket listening) {
    InetAddress here = InetAddress.getLoopbackAddress();
    return new TestAddress(device, here.getHostAddress(), listening.getLocalPort(), limit);
  }

  /** Listens on the port: at all addresses, or, to be reached from this process only, on any. */
  public ServerSocket listen(boolean local) throws IOException, ToolFailure {
    try {
      return local
          ? new ServerSocket(0, 1, InetAddress.getLoopbackAddress())
          : new ServerSocket(port, 1);
    } catch (BindException e) {
      throw new ToolFailure(
          "Couldn't listen to port " + port + ": " + e.getMessage(),
          "end the other server, or give both ends another port with -p");
    }
  }

  /** Waits for the client, without a limit. */
  public Socket accept(ServerSocket listening) throws IOException {
    return prepared(listening.accept());
  }

  /** Connects to the server. */
  public Socket connect() throws IOException, ToolFailure {
    Socket socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(server, port), millis());
      return prepared(socket);
    } catch (UnknownHostException | IllegalArgumentException e) {
      socket.close();
      throw new ToolFailure("unknown host " + server, "give the server's name or address");
    } catch (SocketTimeoutException e) {
      socket.close();
      throw unreachable(e);
    } catch (IOException e) {
      socket.close();
      throw unreachable(e);
    }
  }

  private ToolFailure unreachable(IOException e) {
    return new ToolFailure(
        "Couldn't connect to " + server + ":" + port + ": " + e.getMessage(),
        "start the server first: the same command without a host, on that machine");
  }

  private Socket prepared(Socket socket) throws IOException {
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(millis());
    return socket;
  }

  private int millis() {
    return (int) Math.min(Integer.MAX_VALUE, limit.toMillis());
  }
}
