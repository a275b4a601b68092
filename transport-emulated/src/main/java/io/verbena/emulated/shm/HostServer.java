// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.hca.FailureLog;
import io.verbena.verbs.Gid;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * The socket on which peers introduce themselves. After a failure, mostly because too many files
 * are open, the server accepts nothing for 100 ms; waiting peers are accepted later. For the thread
 * that may use the selector.
 */
final class HostServer implements AutoCloseable {
  private static final long PAUSE_NANOS = 100_000_000;

  /** The number of peers that may connect while this process does not run. */
  private static final int BACKLOG = 1024;

  private final SharedFolder folder;
  private final Gid gid;
  private final Selector selector;
  private final ServerSocketChannel server;
  private final SelectionKey accepting;
  private boolean paused;
  private long pausedSince;

  private HostServer(SharedFolder folder, Gid gid, Selector selector, ServerSocketChannel server)
      throws IOException {
    this.folder = folder;
    this.gid = gid;
    this.selector = selector;
    this.server = server;
    server.bind(UnixDomainSocketAddress.of(folder.socket(gid)), BACKLOG);
    server.configureBlocking(false);
    accepting = server.register(selector, SelectionKey.OP_ACCEPT);
  }

  /**
   * Listens for the peers of a host. The server's selection key has no attachment, those of
   * accepted sockets have an {@link Introduction}.
   */
  static HostServer open(SharedFolder folder, Gid gid, Selector selector) throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      return new HostServer(folder, gid, selector, server);
    } catch (IOException e) {
      server.close();
      throw e;
    }
  }

  @SuppressWarnings("try") // Not read: only held open during the accept.
  void accept() {
    // Accepts only if one more file can be opened: without its files, an accepted peer is useless.
    try (FileChannel unused = folder.openFlag(gid)) {
      SocketChannel accepted = server.accept();
      if (accepted != null) {
        hear(accepted);
      }
    } catch (IOException e) {
      FailureLog.get().failed(e);
      accepting.interestOps(0);
      paused = true;
      pausedSince = System.nanoTime();
    }
  }

  private void hear(SocketChannel accepted) throws IOException {
    try {
      accepted.configureBlocking(false);
      accepted.register(selector, SelectionKey.OP_READ, new Introduction(accepted));
    } catch (IOException e) {
      accepted.close();
      throw e;
    }
  }

  boolean isPaused() {
    return paused;
  }

  /** Ends a pause that has lasted long enough. */
  void acceptAgain() {
    if (paused && System.nanoTime() - pausedSince >= PAUSE_NANOS) {
      paused = false;
      accepting.interestOps(SelectionKey.OP_ACCEPT);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
