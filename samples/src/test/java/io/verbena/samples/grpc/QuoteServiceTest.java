// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.ByteArrayInputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class QuoteServiceTest {
  private static final int LIMIT = 30;

  /** The tests for each transport. */
  abstract static class Contract {
    private Transport transport;
    private Server server;
    private ManagedChannel channel;
    private QuoteClient client;

    abstract Transport open();

    @BeforeEach
    void serve() throws Exception {
      transport = open();
      server =
          transport
              .server(new InetSocketAddress("localhost", 0))
              .addService(new QuoteService(Set.of("A", "B")))
              .build()
              .start();
      InetSocketAddress at = new InetSocketAddress("localhost", server.getPort());
      channel = transport.client(at).usePlaintext().build();
      client = new QuoteClient(channel, Duration.ofSeconds(LIMIT));
    }

    @AfterEach
    void close() throws Exception {
      assertThat(channel.shutdownNow().awaitTermination(LIMIT, TimeUnit.SECONDS)).isTrue();
      assertThat(server.shutdownNow().awaitTermination(LIMIT, TimeUnit.SECONDS)).isTrue();
      transport.close();
    }

    @Test
    void answersWithTheQuoteThatWasAskedFor() {
      assertThat(client.get("A", 7)).isEqualTo(Quote.of("A", 7)).isNotEqualTo(Quote.of("B", 7));
    }

    @Test
    void streamsAsManyAsWereAskedForInOrder() {
      List<Quote> quotes = new ArrayList<>();
      client.watch("B", 1_000).forEachRemaining(quotes::add);

      assertThat(quotes)
          .isEqualTo(LongStream.range(0, 1_000).mapToObj(n -> Quote.of("B", n)).toList());
    }

    @Test
    void streamsNoneIfNoneWereAskedFor() {
      assertThat(client.watch("A", 0).hasNext()).isFalse();
    }

    @Test
    void knowsNoSymbolButItsOwn() {
      assertNotFound(() -> client.get("C", 0));
      assertNotFound(() -> client.watch("C", 3).hasNext());
      assertThat(client.get("A", 0)).isEqualTo(Quote.of("A", 0));
    }

    private static void assertNotFound(ThrowingCallable call) {
      assertThatThrownBy(call)
          .isInstanceOfSatisfying(
              StatusRuntimeException.class,
              e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND))
          .hasMessageContaining("C");
    }
  }

  @Nested
  class OnAnHca extends Contract {
    @Override
    Transport open() {
      return new OverRdma(URI.create("emulated://quote-service-test"));
    }
  }

  @Nested
  class OnSockets extends Contract {
    @Override
    Transport open() {
      return new OverTcp();
    }
  }

  @Test
  void refusesAMessageThatEndsTooSoon() {
    assertThatThrownBy(
            () ->
                QuoteMethods.GET.parseResponse(new ByteArrayInputStream(new byte[] {0, 1, 65, 0})))
        .isInstanceOf(StatusRuntimeException.class)
        .hasMessageContaining("message ends too soon");
  }
}
