// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.verbena.netty.wire.Handshake;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** The receives of a connection are as many and as long as what arrives has use for. */
class ReceiveLengthsTest {
  private static final Handshake HANDSHAKE = new Handshake(1, false, 4096, 4096, 32);
  private static final int SHORT = 2048;
  private static final int PIECE = 16 << 10;

  /** Whoever is told of few short receives need not be told twice to send little. */
  @Test
  void aConnectionBeginsWithFewShortOnes() throws Exception {
    try (Ends ends = new Ends(Ends.options().eagerSize(PIECE));
        RawClient peer = new RawClient()) {
      Handshake handshake = connect(peer, ends);

      assertThat(handshake.piece()).isEqualTo(PIECE);
      assertThat(handshake.shortPiece()).isEqualTo(SHORT);
      assertThat(handshake.receives()).isEqualTo(4);
    }
  }

  @Test
  void theyGrowLongOnceAMessageFillsOneAndShortOnceNoneDoes() throws Exception {
    try (Ends ends = new Ends(Ends.options().eagerSize(PIECE));
        RawClient peer = new RawClient()) {
      SendCredits credits = new SendCredits();
      credits.add(connect(peer, ends).receives(), false);

      assertThat(rounds(peer, credits, SHORT - 1, false)).isOne();
      assertThat(rounds(peer, credits, SHORT, true)).isLessThan(4);
      assertThat(rounds(peer, credits, PIECE, true)).isLessThan(4);
      assertThat(rounds(peer, credits, SHORT - 1, false)).isBetween(16, 1024);
      assertThat(rounds(peer, credits, SHORT - 1, false)).isOne();
    }
  }

  private static Handshake connect(RawClient peer, Ends ends) throws InterruptedException {
    Channel server = Ends.bind(ends.server(new Collector()));
    return requireNonNull(
        Handshake.decode(
            peer.connect((InetSocketAddress) server.localAddress(), HANDSHAKE.encode())
                .privateData()));
  }

  /** How often all credits are used up until those that come back are for such receives. */
  private static int rounds(RawClient peer, SendCredits credits, int length, boolean areLong)
      throws InterruptedException {
    int owed = 0;
    for (int round = 1; round < 2000; round++) {
      while (credits.total() > SendBuffers.RESERVED) {
        int room = credits.nextIsLong() ? PIECE : SHORT;
        peer.send(Math.min(length, room), Signal.of(owed, false));
        owed = 0;
        credits.take();
      }
      int signal = peer.receive();
      owed++;
      credits.add(Signal.credits(signal), Signal.areLong(signal));
      if (Signal.areLong(signal) == areLong) {
        return round;
      }
    }
    throw new AssertionError("receives never became " + (areLong ? "long" : "short"));
  }
}
