// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.datagrams;

import io.verbena.tools.end.LocalRun;
import io.verbena.tools.end.ServiceOptions;
import java.io.PrintWriter;
import java.net.URI;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code verbena datagrams}. */
@Command(
    name = "datagrams",
    header = "datagrams between queue pairs that the connection manager finds, as udaddy",
    description = {
      "The client asks the server's connection manager which queue pairs serve its datagrams"
          + " (service ID resolution), and sends them; the server sends as many back. The other"
          + " end may be udaddy, whose port is 7174 always.",
      "Give both ends the same -c, -C and -S. Nothing is sent again: if a datagram is lost, both"
          + " give up after --timeout."
    },
    footer = {
      "  verbena datagrams --local -c 4",
      "  verbena datagrams -b roce://10.0.0.2      # the server; or: udaddy -b 10.0.0.2",
      "  verbena datagrams -s roce://10.0.0.2      # its client; or: udaddy -s 10.0.0.2"
    })
public final class DatagramsCommand implements Callable<Integer> {
  private static final int MAX_CONNECTIONS = 1024;
  private static final int MAX_MESSAGES = 8192;
  private static final int MAX_SIZE = 4096;

  private static final String LOCAL = "emulated://datagrams";

  @Mixin private final ServiceOptions service = new ServiceOptions();

  @Option(
      names = "-s",
      paramLabel = "URI",
      description =
          "Be the client of the server there, a URI: disni://ADDRESS[:PORT], roce://ADDRESS[:PORT].")
  private @Nullable String server;

  @Option(
      names = "-b",
      paramLabel = "ADDRESS",
      description =
          "Where the server listens, a URI: disni://ADDRESS[:PORT], roce://ADDRESS[:PORT]. With -s, the address to ask"
              + " from, as the option source= of the URI.")
  private @Nullable String bound;

  @Option(
      names = "--local",
      description = "Both ends, in this process (default address: emulated://datagrams).")
  private boolean local;

  @Option(
      names = "-c",
      paramLabel = "CONNECTIONS",
      description = "Queue pairs of an end (default: ${DEFAULT-VALUE}).")
  private int connections = 1;

  @Option(
      names = "-C",
      paramLabel = "MESSAGES",
      description = "Messages of a queue pair each way (default: ${DEFAULT-VALUE}).")
  private int messages = 10;

  @Option(
      names = "-S",
      paramLabel = "BYTES",
      description = "Size of a message (default: ${DEFAULT-VALUE}).")
  private int size = 100;

  @Override
  public Integer call() throws Exception {
    service.range("-c", connections, 1, MAX_CONNECTIONS);
    service.range("-C", messages, 0, MAX_MESSAGES);
    service.range("-S", size, 1, MAX_SIZE);
    if (local && server != null) {
      throw service.wrong("--local: with -s " + server + " (expected: one of them)");
    }
    var options = new DatagramOptions(connections, messages, size, service.limit());
    PrintWriter out = service.out();
    if (server != null) {
      DatagramClient.run(service.address("-s", server, local, bound), options, out);
      return 0;
    }
    String at = bound == null && local ? LOCAL : bound;
    URI here = service.address("-b", at, local, null);
    try (DatagramServer served = new DatagramServer(here, options)) {
      if (local) {
        LocalRun.run(
            () -> served.serve(null),
            () -> DatagramClient.run(served.address(), options, out),
            options.limit());
      } else {
        say(out, "listening at " + served.address());
        served.serve(out);
      }
    }
    return 0;
  }

  /** Prints a step of an end, as udaddy does. */
  static void say(@Nullable PrintWriter out, String what) {
    if (out != null) {
      out.println(what);
      out.flush();
    }
  }
}
