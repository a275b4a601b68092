// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.ManagedChannel;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** Reads a block as a stream of gRPC messages. Compare it with {@link GrpcRdmaClient}. */
final class GrpcTcpClient extends GrpcBlockClient {
  /** Bytes in a piece: smaller ones are slower, larger ones hardly faster. */
  static final int PIECE_LENGTH = 256 << 10;

  GrpcTcpClient(ManagedChannel channel, Duration limit) {
    super(channel, limit);
  }

  @Override
  public Mono<Void> read(String name, ByteBuf into) {
    return call(GrpcMethods.CONTENT, new Request.StreamBlock(name, PIECE_LENGTH))
        .doOnNext(into::writeBytes)
        .then();
  }
}
