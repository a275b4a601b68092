// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.node;

import io.verbena.it.Program;
import java.io.IOException;
import java.net.URI;
import java.util.Objects;

/** The addresses of the guest's two nodes, and the repair of their links. */
public final class Nodes {
  private Nodes() {}

  /** Returns the address of node 1. */
  public static String node1() {
    return environment("VERBENA_NODE1");
  }

  /** Returns the address of node 2. */
  public static String node2() {
    return environment("VERBENA_NODE2");
  }

  private static String environment(String name) {
    return Objects.requireNonNull(System.getenv(name), name);
  }

  /** Returns the address for a server on node 2, with any port. */
  public static String server() {
    return "disni://" + node2() + ":0";
  }

  /** Returns the URI by which a client on node 1 reaches an address. */
  public static URI fromNode1(URI address) {
    return fromNode1(address.getHost(), address.getPort());
  }

  /** Returns the URI by which a client on node 1 reaches a port. */
  public static URI fromNode1(String host, int port) {
    return URI.create("disni://" + host + ":" + port + "?source=" + node1());
  }

  /** Stops the loss of packets, and restores all links. */
  public static void mend() throws IOException, InterruptedException {
    Program.run("link-loss", "0");
    Program.run("link-up");
  }
}
