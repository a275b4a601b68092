package io.verbena.tools.end;

import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The options that say where the two ends are, which tell each other over TCP. */
public final class Wiring {
  /** The TCP port of rdma-core's examples and of perftest. */
  private static final int DEFAULT_PORT = 18_515;

  private static final int MAX_PORT = 65_535;
  private static final URI LOCAL = URI.create("emulated://local");

  @Spec(Target.MIXEE)
  private @Nullable CommandSpec spec;

  @Option(
      names = {"-d", "--ib-dev"},
      paramLabel = "URI",
      description = {
        "Use the device of this URI: disni://ADDRESS, an address of an RNIC here;"
            + " roce://ADDRESS; emulated://NAME with --local.",
        "A client may name it by the server's URI in place of its host."
      })
  private @Nullable URI device;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "Listen on, or connect to, this TCP port (default: ${DEFAULT-VALUE}).")
  private int port = DEFAULT_PORT;

  @Option(
      names = "--local",
      description = "Run both ends here, in this process (default device: emulated://local).")
  private boolean local;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "Give up when nothing comes for so long (default: ${DEFAULT-VALUE}).")
  private int timeout = 60;

  /** Whether both ends run here. */
  public boolean isLocal() {
    return local;
  }

  /** How long nothing may come. */
  public Duration limit() {
    return Duration.ofSeconds(timeout);
  }

  /**
   * Where the ends are.
   *
   * @param host what stands behind the options: the server's name, address or URI; or null
   * @throws ParameterException if that cannot be
   */
  public Place place(@Nullable String host) {
    if (timeout < 1) {
      throw wrong("--timeout: " + timeout + " (expected: >= 1)");
    }
    URI uri = host != null && host.contains("://") ? uri(host) : null;
    String server = uri != null ? uri.getHost() : host;
    if (local && host != null) {
      throw wrong("--local: " + host + " (expected: no server, as both ends are here)");
    }
    URI chosen = device != null ? device : uri != null ? uri : local ? LOCAL : null;
    if (chosen == null) {
      throw wrong(
          "-d: missing (expected: the URI of a device, for example disni://10.0.0.1;"
              + " `verbena devices` lists what is here)");
    }
    if (chosen.getScheme() == null) {
      throw wrong("-d: " + chosen + " (expected: a URI, for example disni://10.0.0.1)");
    }
    if (chosen.getScheme().equals("emulated") && !local) {
      throw wrong("-d: " + chosen + " lives in one JVM (expected: --local, or another device)");
    }
    int to = uri != null && uri.getPort() > 0 ? uri.getPort() : port;
    if (to < 0 || to > MAX_PORT) {
      throw wrong("-p: " + to + " (expected: 0.." + MAX_PORT + ")");
    }
    return new Place(chosen, server, to, limit());
  }

  private URI uri(String text) {
    try {
      return URI.create(text);
    } catch (IllegalArgumentException e) {
      throw wrong("server: " + text + " (expected: a host, or a URI)");
    }
  }

  /** A usage that is wrong. */
  public ParameterException wrong(String message) {
    if (spec == null) {
      throw new IllegalStateException("not part of a command");
    }
    return new ParameterException(spec.commandLine(), message);
  }
}
