// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.ManagedChannel;
import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * Leases a block by gRPC and reads the server's memory, without a thread of the server. Compare it
 * with {@link GrpcTcpClient}.
 */
final class GrpcRdmaClient extends GrpcBlockClient {
  private final RdmaConnection connection;

  /**
   * @param connection to the server's memory, owned by the client
   */
  GrpcRdmaClient(ManagedChannel channel, RdmaConnection connection, Duration limit) {
    super(channel, limit);
    this.connection = connection;
  }

  @Override
  public Mono<Void> read(String name, ByteBuf into) {
    return call(GrpcMethods.LEASE, new Request.LocateBlock(name))
        .cast(Reply.Location.class)
        .concatMap(lease -> connection.read(lease.memory(), into).thenReturn(lease))
        .next() // which cancels the call, and so ends the lease
        .then();
  }

  @Override
  public Mono<Void> close() {
    return connection.close().then(super.close());
  }
}
