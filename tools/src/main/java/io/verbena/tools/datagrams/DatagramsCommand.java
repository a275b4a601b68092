package io.verbena.tools.datagrams;

import io.verbena.tools.end.Both;
import io.verbena.tools.end.ServiceAddress;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

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

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "-s",
      paramLabel = "URI",
      description =
          "Be the client of the server there, a URI: disni://ADDRESS[:PORT], roce://ADDRESS[:PORT].")
  private @Nullable URI server;

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

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "The server's port (default: that of the URI, else 7174).")
  private @Nullable Integer port;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "Give up when nothing comes for so long (default: ${DEFAULT-VALUE}).")
  private int timeout = 60;

  @Override
  public Integer call() throws Exception {
    check("-c", connections, 1, MAX_CONNECTIONS);
    check("-C", messages, 0, MAX_MESSAGES);
    check("-S", size, 1, MAX_SIZE);
    check("--timeout", timeout, 1, Integer.MAX_VALUE);
    if (local && server != null) {
      throw wrong("--local: with -s " + server + " (expected: one of them)");
    }
    var options = new DatagramOptions(connections, messages, size, Duration.ofSeconds(timeout));
    PrintWriter out = Objects.requireNonNull(spec, "spec").commandLine().getOut();
    if (server != null) {
      DatagramClient.run(address("-s", server.toString(), bound), options, out);
      return 0;
    }
    URI here = address("-b", bound == null && local ? LOCAL : bound, null);
    try (DatagramServer served = new DatagramServer(here, options)) {
      if (local) {
        Both.run(
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

  private URI address(String option, @Nullable String text, @Nullable String source) {
    try {
      URI at = text == null ? null : new URI(text);
      if (at == null || at.getScheme() == null || at.getHost() == null) {
        throw wrong(option + ": " + text + " (expected: a URI, for example roce://10.0.0.1)");
      }
      if (!local && at.getScheme().equals("emulated")) {
        throw wrong(
            option + ": " + at + " lives in one JVM (expected: --local, or another address)");
      }
      return at.getScheme().equals("emulated") ? at : ServiceAddress.of(at, port, source);
    } catch (URISyntaxException e) {
      throw wrong(option + ": " + text + ": " + e.getMessage());
    }
  }

  private void check(String option, int value, int least, int most) {
    if (value < least || value > most) {
      throw wrong(option + ": " + value + " (expected: " + least + ".." + most + ")");
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(Objects.requireNonNull(spec, "spec").commandLine(), message);
  }

  /** Tells what an end does, as udaddy does. */
  static void say(@Nullable PrintWriter out, String what) {
    if (out != null) {
      out.println(what);
      out.flush();
    }
  }
}
