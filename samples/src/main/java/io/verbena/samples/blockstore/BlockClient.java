// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * A connection to a block store. One operation at a time; each ends with its value, with {@link
 * RefusedException}, with {@link ProtocolException}, or with an error of the transport.
 */
interface BlockClient {

  /** Every block, by name. */
  Mono<List<BlockInfo>> list();

  /** Returns the description of one block. */
  Mono<BlockInfo> stat(String name);

  /**
   * Reads a whole block.
   *
   * @param into a direct buffer that gets the bytes at its writer index; it stays the caller's, and
   *     needs as many writable bytes as the block has
   */
  Mono<Void> read(String name, ByteBuf into);

  /** Closes the connection. */
  Mono<Void> close();
}
