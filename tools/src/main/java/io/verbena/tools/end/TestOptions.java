// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import io.verbena.verbs.Mtu;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options of tools whose ends exchange their parameters over TCP. */
public final class TestOptions extends TimeoutOption {
  /** The TCP port of rdma-core's examples and of perftest. */
  private static final int DEFAULT_PORT = 18_515;

  private static final int MAX_PORT = 65_535;
  private static final URI LOCAL = URI.create("emulated://local");

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
      description = "Listen on, or connect to, this TCP port (default: 18515).")
  private @Nullable Integer port;

  @Option(
      names = "--local",
      description = "Run both ends here, in this process (default device: emulated://local).")
  private boolean local;

  /** Returns whether both ends run here. */
  public boolean isLocal() {
    return local;
  }

  /**
   * The address that the options name.
   *
   * @param host the server's name, address or URI, or null
   * @throws ParameterException if the options do not fit together
   */
  public TestAddress address(@Nullable String host) {
    Duration limit = limit();
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
    boolean inOneJvm = "emulated".equals(chosen.getScheme());
    if (chosen.getScheme() == null || (chosen.getHost() == null && !inOneJvm)) {
      throw wrong("-d: " + chosen + " (expected: a URI, for example disni://10.0.0.1)");
    }
    if (inOneJvm && !local) {
      throw wrong("-d: " + chosen + " lives in one JVM (expected: --local, or another device)");
    }
    if (uri != null && server == null) {
      throw wrong("server: " + host + " (expected: a host, or a URI with one)");
    }
    int byDefault = port == null ? DEFAULT_PORT : port;
    int to = uri != null && uri.getPort() > 0 ? uri.getPort() : byDefault;
    return new TestAddress(chosen, server, range("-p", to, local ? 0 : 1, MAX_PORT), limit);
  }

  /**
   * Refuses a port that would have no effect.
   *
   * @throws ParameterException if a port is given and both ends run here
   */
  public void refuseLocalPort() {
    if (local && port != null) {
      throw wrong("-p: " + port + " (expected: none with --local)");
    }
  }

  private URI uri(String text) {
    try {
      return URI.create(text);
    } catch (IllegalArgumentException e) {
      throw wrong("server: " + text + " (expected: a host, or a URI)");
    }
  }

  /**
   * The MTU of an option.
   *
   * @throws ParameterException if there is no MTU of this size
   */
  public Mtu mtu(int bytes) {
    for (Mtu each : Mtu.values()) {
      if (each.bytes() == bytes) {
        return each;
      }
    }
    throw wrong("-m: " + bytes + " (expected: 256, 512, 1024, 2048 or 4096)");
  }
}
