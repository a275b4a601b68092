// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import java.io.IOException;
import java.util.List;

/**
 * The HCA that tools of ours run on when they meet C programs. The C programs' devices are the
 * nodes'.
 */
interface Hca {
  /** The scheme of its addresses. */
  String scheme();

  /** The address of a tool that is the server of a C program on node 1. */
  String server();

  /** The address of a tool that is the client of a C program on node 2. */
  String client();

  /** The command line of a program on the host that it is on. */
  List<String> there(String... line);

  /** Starts a tool. */
  Tool start(String line) throws IOException;
}
