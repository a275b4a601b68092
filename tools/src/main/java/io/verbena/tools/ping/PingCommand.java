package io.verbena.tools.ping;

import io.verbena.tools.end.Both;
import io.verbena.tools.end.ServiceAddress;
import io.verbena.tools.end.ToolFailure;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

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
  private static final URI LOCAL = URI.create("emulated://ping");

  /** Which ends run here. */
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

  @Spec private @Nullable CommandSpec spec;

  @ArgGroup(multiplicity = "1")
  private Side side = new Side();

  @Option(
      names = "-a",
      paramLabel = "URI",
      description = "Where the server listens: disni://ADDRESS[:PORT], roce://ADDRESS[:PORT].")
  private @Nullable URI address;

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "The server's port (default: that of the URI, else 7174).")
  private @Nullable Integer port;

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

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "Give up when nothing comes for so long (default: ${DEFAULT-VALUE}).")
  private int timeout = 60;

  @Override
  public Integer call() throws Exception {
    if (size < MIN_SIZE || size > MAX_SIZE) {
      throw wrong("-S: Invalid size " + size + " (expected: " + MIN_SIZE + ".." + MAX_SIZE + ")");
    }
    if (count < 0) {
      throw wrong("-C: Invalid count " + count + " (expected: >= 0)");
    }
    if (timeout < 1) {
      throw wrong("--timeout: " + timeout + " (expected: >= 1)");
    }
    PingOptions options = new PingOptions(size, count, validate, Duration.ofSeconds(timeout));
    PrintWriter out = verbose ? Objects.requireNonNull(spec, "spec").commandLine().getOut() : null;
    URI server = server();
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
      Both.run(
          () -> pinged.serve(null),
          () -> PingClient.ping(pinged.address(), options, out),
          options.limit());
    }
  }

  private URI server() {
    URI at = address != null ? address : side.local ? LOCAL : null;
    if (at == null || at.getScheme() == null) {
      throw wrong("-a: " + at + " (expected: a URI, for example disni://10.0.0.1)");
    }
    if (at.getScheme().equals("emulated")) {
      if (!side.local) {
        throw wrong("-a: " + at + " lives in one JVM (expected: --local, or another address)");
      }
      return at;
    }
    try {
      return ServiceAddress.of(at, port, source);
    } catch (URISyntaxException e) {
      throw wrong("-a: " + at + ": " + e.getMessage());
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(Objects.requireNonNull(spec, "spec").commandLine(), message);
  }
}
