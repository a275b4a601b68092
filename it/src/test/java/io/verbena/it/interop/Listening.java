package io.verbena.it.interop;

import static org.awaitility.Awaitility.await;

import io.verbena.it.Program;
import java.time.Duration;

/** Waits until somebody listens, as a connection made to find out would be taken for the client. */
final class Listening {
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private Listening() {}

  /** On a TCP port. */
  static void onTcp(int port) {
    await()
        .atMost(LIMIT)
        .until(() -> Program.run("ss", "-Hltn", "sport = :" + port).contains("LISTEN"));
  }

  /** On a port of the connection manager. */
  static void onManager(int port) {
    await()
        .atMost(LIMIT)
        .until(() -> Program.run("rdma", "resource", "show", "cm_id").contains(":" + port));
  }
}
