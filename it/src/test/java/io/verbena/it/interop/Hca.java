// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import java.io.IOException;
import java.util.List;

/**
 * The HCA for our tools in tests against C programs. The C programs use the devices of the nodes.
 */
interface Hca {
  /** Returns the scheme of its addresses. */
  String scheme();

  /** Returns the address of a tool that serves a C program on node 1. */
  String server();

  /** Returns the address of a tool that is the client of a C program on node 2. */
  String client();

  /** Returns the command line of a program on the HCA's host. */
  List<String> there(String... line);

  /** Starts a tool. */
  Tool start(String line) throws IOException;
}
