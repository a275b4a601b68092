// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.ping;

import io.verbena.tools.end.LocalRun;
import io.verbena.tools.end.ServiceOptions;
import io.verbena.tools.end.ToolFailure;
import java.io.PrintWriter;
import java.net.URI;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code verbena ping}. */
@Command(
    name = "ping",
    header = "ping by READ and WRITE over the connection manager, as rping",
    description = {
      "The client advertises where its data are; the server reads them from there and writes them"
          + " back to where the client wants them. The other end may be rping."
    },
    footer = {
      "  verbena ping --local -C 10 -v",
      "  verbena ping -s -a disni://10.0.0.2 -v          # the server",
      "  verbena ping -c -a disni://10.0.0.2 -C 10 -V    # its client; or: rping -c -a 10.0.0.2"
    })
public final class PingCommand implements Callable<Integer> {
  private static final int MIN_SIZE = 26;
  private static final int MAX_SIZE = 65_535;
  private static final String LOCAL = "emulated://ping";

  /** The options that choose which ends run here. */
  static final class Side {
    @Option(names = "-s", required = true, description = "Server side.")
    boolean server;

    @Option(names = "-c", required = true, description = "Client side.")
    boolean client;

    @Option(
        names = "--local",
        required = true,
        description = "Both, in this process (default address: emulated://ping).")
    boolean local;
  }

  @Mixin private final ServiceOptions service = new ServiceOptions();

  @ArgGroup(multiplicity = "1")
  private Side side = new Side();

  @Option(
      names = "-a",
      paramLabel = "URI",
      description = "Where the server listens: disni://ADDRESS[:PORT], roce://ADDRESS[:PORT].")
  private @Nullable String address;

  @Option(
      names = "-I",
      paramLabel = "ADDRESS",
      description = "Connect from this address; as the option source= of the URI.")
  private @Nullable String source;

  @Option(
      names = "-C",
      paramLabel = "COUNT",
      description = "Pings of a client; 0 for no end (default: ${DEFAULT-VALUE}).")
  private int count;

  @Option(
      names = "-S",
      paramLabel = "BYTES",
      description = {
        "Size of a ping, 26 to 65535 (default: ${DEFAULT-VALUE}). The most that a server takes."
      })
  private int size = 64;

  @Option(names = "-V", description = "Validate the data.")
  private boolean validate;

  @Option(names = "-v", description = "Show the data, and where a server listens.")
  private boolean verbose;

  @Override
  public Integer call() throws Exception {
    if (size < MIN_SIZE || size > MAX_SIZE) {
      throw service.wrong(
          "-S: Invalid size " + size + " (expected: " + MIN_SIZE + ".." + MAX_SIZE + ")");
    }
    if (count < 0) {
      throw service.wrong("-C: Invalid count " + count + " (expected: >= 0)");
    }
    PingOptions options = new PingOptions(size, count, validate, service.limit());
    PrintWriter out = verbose ? service.out() : null;
    String at = address == null && side.local ? LOCAL : address;
    URI server = service.address("-a", at, side.local, source);
    if (source != null && "emulated".equals(server.getScheme())) {
      throw service.wrong(
          "-I: " + source + " (expected: none with " + server + ", which lives in one JVM)");
    }
    if (side.local) {
      both(server, options, out);
    } else if (side.server) {
      try (PingServer pinged = new PingServer(server, options)) {
        if (out != null) {
          out.println("listening at " + pinged.address());
          out.flush();
        }
        pinged.serve(out);
      }
    } else {
      PingClient.ping(server, options, out);
    }
    return 0;
  }

  private static void both(URI server, PingOptions options, @Nullable PrintWriter out)
      throws InterruptedException, ToolFailure {
    try (PingServer pinged = new PingServer(server, options)) {
      LocalRun.run(
          () -> pinged.serve(null),
          () -> PingClient.ping(pinged.address(), options, out),
          options.limit());
    }
  }
}
