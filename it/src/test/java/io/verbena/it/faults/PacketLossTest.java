// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Fill;
import io.verbena.it.node.Link;
import io.verbena.it.node.PacketLoss;
import io.verbena.it.node.Side;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that a program sees no effect of lost packets: everything arrives complete, once and in
 * order.
 */
@Tag("once")
@InSoftRoceGuest(nodes = 2)
class PacketLossTest extends FaultTests {
  private static final int MESSAGES = 160;
  private static final int LENGTH = 10_000;
  private static final int WINDOW = 16;
  private static final int LARGE = 256 << 10;

  private int posted;
  private int received;

  @ParameterizedTest
  @ValueSource(ints = {1, 5})
  void sendsArriveWholeOnceAndInOrder(int percent) throws Exception {
    try (var link = Link.open(WINDOW * LENGTH, ConnectionParameters.defaults())) {
      for (int i = 0; i < WINDOW; i++) {
        link.server().receive(link.serverPair(), i, i * LENGTH, LENGTH);
      }
      PacketLoss.strikes(percent, () -> send(link, received + MESSAGES));
    }
  }

  /** Sends until {@code end} messages in total have arrived on the link. */
  private void send(Link link, int end) throws InterruptedException {
    Side client = link.client();
    Side server = link.server();
    for (; received < end; received++) {
      // A slot is free once its send was acknowledged, which the peer does only after it received
      // it.
      for (; posted < end && posted < received + WINDOW; posted++) {
        int slot = posted % WINDOW * LENGTH;
        if (posted >= WINDOW) {
          assertThat(client.success().workRequestId()).isEqualTo(posted - WINDOW);
        }
        Fill.write(client.memory(), slot, posted, LENGTH);
        client.post(link.clientPair(), new SendWorkRequest().send().id(posted), slot, LENGTH);
      }
      WorkCompletion completion = server.success();
      assertThat(completion.workRequestId()).isEqualTo(received);
      assertThat(completion.byteLength()).isEqualTo(LENGTH);
      Fill.check(server.memory(), received % WINDOW * LENGTH, received, LENGTH);
      server.receive(link.serverPair(), received + WINDOW, received % WINDOW * LENGTH, LENGTH);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5})
  void writesAndReadsAreWhole(int percent) throws Exception {
    try (var link = Link.open(2 * LARGE, ConnectionParameters.defaults())) {
      Side client = link.client();
      Side server = link.server();
      long there = server.region().address();
      int key = server.region().rkey();
      PacketLoss.strikes(
          percent,
          () -> {
            Fill.write(client.memory(), 0, percent, LARGE);
            Fill.write(client.memory(), LARGE, -percent, LARGE);
            client.post(link.clientPair(), new SendWorkRequest().write(there, key), 0, LARGE);
            client.success();
            Fill.check(server.memory(), 0, percent, LARGE);
            client.post(link.clientPair(), new SendWorkRequest().read(there, key), LARGE, LARGE);
            client.success();
            Fill.check(client.memory(), LARGE, percent, LARGE);
          });
    }
  }
}
