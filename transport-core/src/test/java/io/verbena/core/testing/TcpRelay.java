// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;

/**
 * A TCP relay to a server that can be cut without notice to either end. Bytes are then accepted and
 * dropped, as if a host or a network had failed.
 */
public final class TcpRelay implements AutoCloseable {
  private static final int CHUNK = 64 << 10;

  private final URI server;
  private final ServerSocket listener;
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean cut;

  /**
   * Starts to relay connections to {@link #address}, which is another port of the server's host.
   */
  public TcpRelay(URI server) throws IOException {
    this.server = server;
    listener = new ServerSocket(0, 16, InetAddress.getByName(server.getHost()));
    start(this::accept);
  }

  /** Returns the server's address with the relay's port. */
  public URI address() {
    String query = server.getRawQuery();
    return URI.create(
        server.getScheme()
            + "://"
            + server.getHost()
            + ":"
            + listener.getLocalPort()
            + (query == null ? "" : "?" + query));
  }

  /** Stops forwarding; the sockets stay open until the relay is closed. */
  public void cut() {
    cut = true;
  }

  @Override
  public void close() throws IOException {
    closed.countDown();
    listener.close();
    for (Socket each : sockets) {
      each.close();
    }
  }

  private static void start(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (ConnectException e) {
                throw new AssertionError(e);
              } catch (SocketException e) {
                // The socket was closed by an end or by the relay.
              } catch (IOException e) {
                throw new AssertionError(e);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "tcp-relay");
    thread.setDaemon(true);
    thread.start();
  }

  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = listener.accept();
      sockets.add(client);
      Socket onward = new Socket(server.getHost(), server.getPort());
      sockets.add(onward);
      start(() -> forward(client, onward));
      start(() -> forward(onward, client));
    }
  }

  private void forward(Socket from, Socket to) throws IOException, InterruptedException {
    byte[] chunk = new byte[CHUNK];
    InputStream in = from.getInputStream();
    OutputStream out = to.getOutputStream();
    for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
      if (cut) {
        closed.await();
        return;
      }
      out.write(chunk, 0, length);
    }
    if (cut) {
      closed.await();
    }
    to.shutdownOutput();
  }
}
