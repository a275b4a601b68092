package io.verbena.rsocket;

import static java.util.Objects.requireNonNull;

import io.rsocket.DuplexConnection;
import io.rsocket.transport.ClientTransport;
import io.verbena.RdmaTransport;
import java.net.URI;
import reactor.core.publisher.Mono;

/**
 * Connects RSocket clients over RDMA. The URI's scheme chooses the HCA.
 *
 * <pre>{@code
 * RSocket client = RSocketConnector.create()
 *     .connect(RdmaClientTransport.create(URI.create("emulated://echo")))
 *     .block();
 * }</pre>
 *
 * RSocket has no flow control between its streams, and so a connection queues what the peer gives
 * no credit for. That queue has a limit in bytes: a connection that would pass it fails with {@link
 * SendQueueLimitException}. Immutable and thread-safe.
 */
public final class RdmaClientTransport implements ClientTransport {
  private final URI address;
  private final RdmaTransport transport;
  private final SendQueues sendQueues;

  private RdmaClientTransport(URI address, RdmaTransport transport, SendQueues sendQueues) {
    this.address = requireNonNull(address, "address");
    this.transport = requireNonNull(transport, "transport");
    this.sendQueues = sendQueues;
  }

  /** Connects to an address over a transport with default options, which all share who ask so. */
  public static RdmaClientTransport create(URI address) {
    return create(address, SharedTransport.INSTANCE);
  }

  /**
   * Connects to an address.
   *
   * @param transport whose loops and memory are used; it stays the caller's
   */
  public static RdmaClientTransport create(URI address, RdmaTransport transport) {
    return new RdmaClientTransport(address, transport, new SendQueues(FrameLimits.SEND_QUEUE));
  }

  /**
   * The same with another limit, and with {@link #sendQueues} of its own.
   *
   * @param bytes the most that may wait on a connection, above 0; a frame counts 256 at least
   */
  public RdmaClientTransport sendQueueLimit(long bytes) {
    return new RdmaClientTransport(
        address, transport, new SendQueues(FrameLimits.checkSendQueue(bytes)));
  }

  /** What waits on the connections that were made by this transport. */
  public SendQueues sendQueues() {
    return sendQueues;
  }

  @Override
  public int maxFrameLength() {
    return FrameLimits.longestFrame(transport);
  }

  @Override
  public Mono<DuplexConnection> connect() {
    return transport
        .connect(address)
        .map(connection -> FrameConnection.over(connection, sendQueues));
  }
}
