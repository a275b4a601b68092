// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import java.net.URI;
import java.net.URISyntaxException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of tools whose ends connect by the connection manager. */
public final class ServiceOptions extends TimeoutOption {
  /** The port of rdma-core's examples. */
  private static final int DEFAULT_PORT = 7174;

  private static final int MAX_PORT = 65_535;
  private static final String IN_ONE_JVM = "emulated";

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "The server's port (default: that of the URI, else 7174).")
  private @Nullable Integer port;

  /**
   * The address of a server.
   *
   * @param option the option that names it
   * @param text the option's value, or null
   * @param local whether both ends run in this process
   * @param source the address to reach it from, or null
   * @throws picocli.CommandLine.ParameterException unless both ends can connect at the address
   */
  public URI address(String option, @Nullable String text, boolean local, @Nullable String source) {
    try {
      URI at = text == null ? null : new URI(text);
      boolean inOneJvm = at != null && IN_ONE_JVM.equals(at.getScheme());
      if (at == null || at.getScheme() == null || (at.getHost() == null && !inOneJvm)) {
        throw wrong(option + ": " + text + " (expected: a URI, for example roce://10.0.0.1)");
      }
      if (!inOneJvm) {
        return complete(option, at, source);
      }
      if (!local) {
        throw wrong(
            option + ": " + at + " lives in one JVM (expected: --local, or another address)");
      }
      if (port != null) {
        throw wrong("-p: " + port + " (expected: none with " + at + ", which lives in one JVM)");
      }
      return at;
    } catch (URISyntaxException e) {
      throw wrong(option + ": " + text + ": " + e.getMessage());
    }
  }

  private URI complete(String option, URI at, @Nullable String source) throws URISyntaxException {
    int to = port != null ? port : at.getPort() >= 0 ? at.getPort() : DEFAULT_PORT;
    range(port != null ? "-p" : option, to, 0, MAX_PORT);
    String query = at.getQuery();
    if (source != null) {
      query = (query == null ? "" : query + "&") + "source=" + source;
    }
    return new URI(at.getScheme(), null, at.getHost(), to, at.getPath(), query, null);
  }
}
