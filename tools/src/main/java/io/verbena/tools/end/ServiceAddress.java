package io.verbena.tools.end;

import java.net.URI;
import java.net.URISyntaxException;
import org.jspecify.annotations.Nullable;

/** Where a server of a connection manager is, by the options of a command line. */
public final class ServiceAddress {
  /** The port of rdma-core's examples. */
  public static final int DEFAULT_PORT = 7174;

  private ServiceAddress() {}

  /**
   * Puts it together.
   *
   * @param at its address
   * @param port of it, or null for that of the address, else {@link #DEFAULT_PORT}
   * @param source the address to reach it from, or null
   * @throws URISyntaxException if that makes no URI
   */
  public static URI of(URI at, @Nullable Integer port, @Nullable String source)
      throws URISyntaxException {
    int to = port != null ? port : at.getPort() >= 0 ? at.getPort() : DEFAULT_PORT;
    String query = at.getQuery();
    if (source != null) {
      query = (query == null ? "" : query + "&") + "source=" + source;
    }
    return new URI(at.getScheme(), null, at.getHost(), to, at.getPath(), query, null);
  }
}
