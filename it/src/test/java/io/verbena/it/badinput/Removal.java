// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.badinput;

import io.verbena.it.node.Side;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.SendWorkRequest;
import java.net.URI;
import java.util.EnumMap;
import java.util.Map;

/**
 * A program whose device is removed: {@code ADDRESS}. It has pending work on a connection with
 * itself, and ends once all work has completed.
 */
final class Removal {
  private static final int BYTES = 4096;
  private static final int RECEIVES = 3;

  private Removal() {}

  public static void main(String[] arguments) throws InterruptedException {
    URI any = URI.create("disni://" + arguments[0] + ":0");
    try (Side side = Side.open(any.toString(), BYTES);
        ConnectionListener listener = side.listen()) {
      ConnectionIdentifier active = side.resolve(listener.address());
      active.connect(ConnectionParameters.defaults(), Side.PATIENCE.toNanos());
      ConnectionIdentifier passive = side.request();
      passive.accept(ConnectionParameters.defaults());
      side.expect(ConnectionEvent.Type.ESTABLISHED);
      side.expect(ConnectionEvent.Type.ESTABLISHED);
      for (int id = 1; id <= RECEIVES; id++) {
        side.receive(Side.pairOf(active), id, 0, BYTES);
      }
      // Without a receive this send stays pending.
      side.post(Side.pairOf(active), new SendWorkRequest().send().id(0), 0, BYTES);
      System.out.println("ready");
      side.expect(ConnectionEvent.Type.DEVICE_REMOVAL);
      // The other end gets the same event, or the disconnect of this end.
      System.out.println("told: " + side.awaitEvent().type());
      Map<CompletionStatus, Integer> ends = new EnumMap<>(CompletionStatus.class);
      for (int i = 0; i <= RECEIVES; i++) {
        ends.merge(side.completion().status(), 1, Integer::sum);
      }
      System.out.println("ended: " + ends);
      Side.close(active);
      Side.close(passive);
    }
    System.out.println("closed");
  }
}
