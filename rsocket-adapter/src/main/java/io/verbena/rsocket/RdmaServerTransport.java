package io.verbena.rsocket;

import static java.util.Objects.requireNonNull;

import io.rsocket.transport.ServerTransport;
import io.verbena.RdmaConnection;
import io.verbena.RdmaTransport;
import java.net.URI;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * Serves RSocket over RDMA. The URI's scheme chooses the HCA.
 *
 * <pre>{@code
 * BoundRdmaServer server = RSocketServer.create(acceptor)
 *     .bind(RdmaServerTransport.create(URI.create("emulated://echo")))
 *     .block();
 * }</pre>
 *
 * For what waits on a connection, see {@link RdmaClientTransport}. Immutable and thread-safe.
 */
public final class RdmaServerTransport implements ServerTransport<BoundRdmaServer> {
  private final URI address;
  private final RdmaTransport transport;
  private final SendQueues sendQueues;

  private RdmaServerTransport(URI address, RdmaTransport transport, SendQueues sendQueues) {
    this.address = requireNonNull(address, "address");
    this.transport = requireNonNull(transport, "transport");
    this.sendQueues = sendQueues;
  }

  /** Listens on an address over a transport with default options, which all share who ask so. */
  public static RdmaServerTransport create(URI address) {
    return create(address, SharedTransport.INSTANCE);
  }

  /**
   * Listens on an address.
   *
   * @param transport whose loops and memory are used; it stays the caller's
   */
  public static RdmaServerTransport create(URI address, RdmaTransport transport) {
    return new RdmaServerTransport(address, transport, new SendQueues(FrameLimits.SEND_QUEUE));
  }

  /**
   * The same with another limit, and with {@link #sendQueues} of its own.
   *
   * @param bytes the most that may wait on a connection, above 0; a frame counts 256 at least
   */
  public RdmaServerTransport sendQueueLimit(long bytes) {
    return new RdmaServerTransport(
        address, transport, new SendQueues(FrameLimits.checkSendQueue(bytes)));
  }

  /** What waits on the connections that were accepted by this transport. */
  public SendQueues sendQueues() {
    return sendQueues;
  }

  @Override
  public int maxFrameLength() {
    return FrameLimits.longestFrame(transport);
  }

  @Override
  public Mono<BoundRdmaServer> start(ConnectionAcceptor acceptor) {
    requireNonNull(acceptor, "acceptor");
    return transport
        .bind(address, connection -> serve(acceptor, connection))
        .map(BoundRdmaServer::new);
  }

  private Publisher<Void> serve(ConnectionAcceptor acceptor, RdmaConnection connection) {
    FrameConnection frames = FrameConnection.over(connection, sendQueues);
    acceptor.apply(frames).subscribe(null, frames::fail);
    // RSocket closes the connection; that the acceptor is through says nothing.
    return Mono.never();
  }
}
