// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.messages;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RemoteMemory;
import io.verbena.reactor.testing.Ends;
import java.nio.ByteBuffer;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Long messages and one-sided operations take slots of one send queue. */
@Tag("moves-data")
class SendSlotTest {
  private static final int ROUNDS = 200;
  private static final int LONG = 100_000;

  @Test
  void aLongMessageTakesTheSlotThatAOneSidedOperationLeaves() {
    RdmaOptions.Builder options = Ends.options().sendDepth(4);
    try (Ends ends = Ends.create(options)) {
      Ends.Pair pair = ends.connect();
      RdmaMemory.Region region =
          pair.server()
              .memory()
              .register(ByteBuffer.allocateDirect(LONG), Set.of(RemoteMemory.Right.READ));
      RemoteMemory token = region.token();
      for (int round = 0; round < ROUNDS; round++) {
        ByteBuf message = Ends.message(pair.server(), LONG, round);
        Disposable sent = pair.server().send(Mono.just(message)).subscribe();
        // These fill the send queue while the announcement of the message arrives.
        Mono<Void> reads =
            Flux.range(0, 2)
                .flatMap(each -> pair.client().read(token).doOnNext(ByteBuf::release))
                .then();
        byte[] received =
            Mono.zip(pair.client().receive().next().map(Ends::take), reads.thenReturn(true))
                .blockOptional(Ends.LIMIT)
                .orElseThrow()
                .getT1();
        assertThat(received).isEqualTo(Ends.bytes(LONG, round));
        sent.dispose();
      }
      region.close();
    }
  }
}
