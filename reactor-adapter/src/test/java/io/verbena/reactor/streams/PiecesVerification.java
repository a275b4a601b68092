// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.streams;

import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory;
import io.verbena.reactor.testing.Ends;
import java.nio.ByteBuffer;
import java.util.Set;
import org.reactivestreams.Publisher;

/** Tests {@link RdmaConnection#readPieces}. */
public final class PiecesVerification extends ConnectionVerification<Integer> {
  private static final int MOST = 1 << 16;

  private final RdmaMemory.Region region =
      ends.server()
          .memory()
          .register(ByteBuffer.allocateDirect(MOST), Set.of(RemoteMemory.Right.READ));

  @Override
  public void end() {
    region.close();
    super.end();
  }

  @Override
  public long maxElementsFromPublisher() {
    return MOST;
  }

  @Override
  public Publisher<Integer> createPublisher(long elements) {
    return new Released(ends.connect().client().readPieces(region.token().slice(0, elements), 1));
  }

  @Override
  public Publisher<Integer> createFailedPublisher() {
    Ends.Pair pair = ends.connect();
    pair.client().dispose();
    pair.client().onClose().onErrorComplete().block(Ends.LIMIT);
    return new Released(pair.client().readPieces(region.token(), 1));
  }
}
