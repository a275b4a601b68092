// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how the connects of an HCA share what they learn about a peer. */
@Tag("once")
class PeerMediaTest {
  private static final InetSocketAddress PEER = InetSocketAddress.createUnresolved("peer", 4711);
  private static final long LONG = Long.MAX_VALUE;

  private final PeerMedia media = new PeerMedia();

  @Test
  void hasOneFindOutForAll() {
    PeerMedia.Question first = media.ask(PEER, "first", LONG, LONG);
    PeerMedia.Question second = media.ask(PEER, "second", LONG, LONG);

    assertThat(first.isOf("first")).isTrue();
    assertThat(second).isSameAs(first);
    media.end(PEER, first, true);
    assertThat(second.join()).isTrue();
    assertThat(media.ask(PEER, "third", LONG, LONG).isOf("third")).isTrue();
  }

  @Test
  void doesNotWaitForOneThatNeverSays() {
    PeerMedia.Question first = media.ask(PEER, "first", LONG, LONG);

    PeerMedia.Question second = media.ask(PEER, "second", LONG, 0);

    assertThat(second.isOf("second")).isTrue();
    assertThat(first).isCompletedWithValue(null);
    media.end(PEER, first, false);
    assertThat(media.ask(PEER, "third", LONG, LONG)).isSameAs(second).isNotDone();
  }
}
