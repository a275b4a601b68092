// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.streams;

import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory;
import io.verbena.reactor.testing.Ends;
import java.nio.ByteBuffer;
import java.util.Set;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;

/** Tests {@link RdmaConnection#immediates}; the peer closes after the last write. */
public final class ImmediatesVerification extends ConnectionVerification<RdmaConnection.Immediate> {
  private static final long MOST = 1 << 12;

  private final RdmaMemory.Region region =
      ends.server()
          .memory()
          .register(ByteBuffer.allocateDirect(64), Set.of(RemoteMemory.Right.WRITE));

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
  public Publisher<RdmaConnection.Immediate> createPublisher(long elements) {
    Ends.Pair pair = ends.connect();
    RdmaConnection writer = pair.client();
    RemoteMemory to = region.token();
    Flux.range(0, (int) Math.min(MOST, elements))
        .concatMap(i -> writer.writeWithImmediate(Ends.message(writer, 8, i), to, i))
        .then(writer.close())
        .onErrorComplete()
        .subscribe();
    return pair.server().immediates();
  }

  @Override
  public Publisher<RdmaConnection.Immediate> createFailedPublisher() {
    Ends.Pair pair = ends.connect();
    pair.server().dispose();
    pair.server().onClose().onErrorComplete().block(Ends.LIMIT);
    return pair.server().immediates();
  }
}
