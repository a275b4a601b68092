// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.OtherProcess;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import reactor.core.publisher.Mono;

/** Round trips through {@code Flux} between two processes. */
public final class ReactiveWirePingPong implements PingPong {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final OtherProcess other;
  private final RdmaTransport transport;
  private final ReactivePings pings;

  /**
   * Connects.
   *
   * @param server the address on which the other process listens
   * @param mode how the loops of both ends poll
   */
  public ReactiveWirePingPong(int size, URI server, PollMode mode) throws Exception {
    other = new OtherProcess(Server.class, server, size, mode);
    transport = transport(mode);
    URI address = URI.create(other.line());
    pings = new ReactivePings(present(transport.connect(address)), size);
  }

  private static RdmaTransport transport(PollMode mode) {
    return RdmaTransport.create(RdmaOptions.builder().loops(1).pollMode(mode).build());
  }

  private static <T> T present(Mono<T> made) {
    return Objects.requireNonNull(made.block(LIMIT), "made");
  }

  @Override
  public void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception {
    deadline.await(pings.exchange(rounds, ping));
  }

  @Override
  public void close() {
    try (other) {
      pings.release();
      transport.dispose();
    }
  }

  /** The end in the other process: prints its address, and answers the messages of a client. */
  static final class Server {
    private Server() {}

    /** Arguments: the address to listen on, the size of the messages, and the poll mode. */
    public static void main(String[] arguments) {
      OtherProcess.endWithParent();
      int size = Integer.parseInt(arguments[1]);
      RdmaServer server =
          present(
              transport(PollMode.valueOf(arguments[2]))
                  .bind(
                      URI.create(arguments[0]),
                      connection -> Mono.fromFuture(new ReactivePongs(connection, size).ended())));
      System.out.println(server.address());
      server.onClose().block();
    }
  }
}
