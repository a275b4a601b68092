// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.node;

import io.verbena.it.Program;
import java.io.IOException;
import java.net.URI;
import java.util.Objects;

/** The two nodes of the guest: where they are, and what can be done to their cables. */
public final class Nodes {
  private Nodes() {}

  /** The address of node 1. */
  public static String node1() {
    return environment("VERBENA_NODE1");
  }

  /** The address of node 2. */
  public static String node2() {
    return environment("VERBENA_NODE2");
  }

  private static String environment(String name) {
    return Objects.requireNonNull(System.getenv(name), name);
  }

  /** Returns where a server on node 2 listens, on any port. */
  public static String server() {
    return "disni://" + node2() + ":0";
  }

  /** Returns how a client on node 1 reaches an address. */
  public static URI fromNode1(URI address) {
    return fromNode1(address.getHost(), address.getPort());
  }

  /** Returns how a client on node 1 reaches a port. */
  public static URI fromNode1(String host, int port) {
    return URI.create("disni://" + host + ":" + port + "?source=" + node1());
  }

  /** No loss, all cables in. */
  public static void mend() throws IOException, InterruptedException {
    Program.run("link-loss", "0");
    Program.run("link-up");
  }
}
