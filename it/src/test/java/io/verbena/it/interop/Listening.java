// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import io.verbena.it.Program;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;

/**
 * Waits for listeners without connecting, as a server would take the connection for its client's.
 */
public final class Listening {
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private Listening() {}

  /** Waits until a C program listens on a TCP port. */
  static void onTcp(int port) {
    await(List.of(sockets(port)), "LISTEN");
  }

  /** Waits until a tool listens on a TCP port of its host. */
  static void onTcp(int port, Hca hca) {
    await(hca.there(sockets(port)), "LISTEN");
  }

  private static String[] sockets(int port) {
    return new String[] {"ss", "-Hltn", "sport = :" + port};
  }

  /** Waits until a C program listens on a port of the kernel's connection manager. */
  public static void onManager(int port) {
    await(List.of("rdma", "resource", "show", "cm_id"), ":" + port);
  }

  private static void await(List<String> line, String shown) {
    Awaitility.await().atMost(LIMIT).until(() -> Program.run(line).contains(shown));
  }
}
