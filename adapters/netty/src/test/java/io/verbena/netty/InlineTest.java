// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.socket.SocketChannel;
import io.verbena.core.testing.Addresses;
import java.net.URI;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests which messages of channels are posted with inline data. */
class InlineTest {
  private static final int LONGEST_INLINE = 256;

  private final SentRequests sent = new SentRequests();

  @BeforeEach
  void needAnEmulatedHca() {
    assumeThat(Addresses.areEmulated()).as("an HCA whose limits can be set").isTrue();
  }

  /** Writes messages of these lengths, one after the other, on a channel at an address. */
  private void write(URI address, int... lengths) {
    Collector received = new Collector();
    try (Ends ends = new Ends(Ends.options().meters(sent), address, address)) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      long all = 0;
      for (int length : lengths) {
        client.writeAndFlush(Unpooled.wrappedBuffer(new byte[length])).syncUninterruptibly();
        all += length;
        long arrives = all;
        await().atMost(Ends.LIMIT).until(() -> received.bytes() == arrives);
      }
    }
  }

  @Test
  void shortMessagesAreInline() {
    write(URI.create("emulated://inline"), 10, LONGEST_INLINE, LONGEST_INLINE + 1, 1000);

    assertThat(sent.inline).containsExactly(10, LONGEST_INLINE);
    assertThat(sent.gathered).containsExactly(LONGEST_INLINE + 1, 1000);
  }

  @Test
  void noneIsLongerThanTheDeviceTakes() {
    write(URI.create("emulated://inline?max-inline-data=64"), 64, 65);

    assertThat(sent.inline).containsExactly(64);
    assertThat(sent.gathered).containsExactly(65);
  }

  @Test
  void nothingIsInlineOnADeviceWithoutInlineData() {
    write(ObservedProvider.WITHOUT_INLINE, 10, 100);

    assertThat(sent.inline).isEmpty();
    assertThat(sent.gathered).containsExactly(10, 100);
  }
}
