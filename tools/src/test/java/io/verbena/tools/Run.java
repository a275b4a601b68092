// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CompletableFuture;

/**
 * The result of a command line.
 *
 * @param exitCode the exit code
 * @param out the standard output
 * @param err the error messages
 */
record Run(int exitCode, String out, String err) {
  /**
   * A loopback address that no other JVM of this machine uses, as its user occupies RoCEv2's UDP
   * port there. It does not end in 255, where Java opens no sockets.
   */
  static final String HERE = here();

  private static String here() {
    long pid = ProcessHandle.current().pid();
    return "127.60." + (pid / 255 & 0xff) + "." + pid % 255;
  }

  /** Runs a command line, in which HERE stands for {@link #HERE}. */
  static Run of(String line) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] arguments = line.isEmpty() ? new String[0] : line.replace("HERE", HERE).split(" ", -1);
    int exitCode = Verbena.run(new PrintWriter(out), new PrintWriter(err), arguments);
    return new Run(exitCode, out.toString(), err.toString());
  }

  /** Runs a command line in a thread of its own, for programs that wait for each other. */
  static CompletableFuture<Run> beside(String line) {
    return CompletableFuture.supplyAsync(() -> of(line), task -> new Thread(task, line).start());
  }
}
