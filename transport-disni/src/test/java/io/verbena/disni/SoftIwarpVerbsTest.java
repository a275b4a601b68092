// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.tck.Deviation;
import org.jspecify.annotations.Nullable;

/** Soft-iWARP as its users' calls see it. */
final class SoftIwarpVerbsTest extends FakeIwarpTck {
  SoftIwarpVerbsTest() {
    super("10.0.7.1");
  }

  @Override
  protected @Nullable Deviation deviation(String test) {
    return switch (test) {
      case "SharedReceiveQueues.makesASenderWaitUntilAReceiveIsPosted",
          "SharedReceiveQueues.refusesAMessageThatIsLargerThanTheReceiveThatItGot" ->
          doneWhenSent();
      case "ReadAndWrite.scattersAReadOverManyBuffers" ->
          new Deviation(
              "scatter/gather entries",
              "a READ has one buffer (max_sge_rd), and the provider refuses more");
      case "Threads.survivesThatARegionIsClosedWhilePeersWriteToIt" ->
          Deviation.sometimes(
              "no completion on the client's send completion queue",
              "what is posted just when the connection ends the provider flushes when the program asks"
                  + " for events of the connection manager or for the state, or posts again");
      // It is not resized.
      case "ResizedCompletionQueues.namesWhatItHoldsWhenItIsToShrinkBelow" -> null;
      default -> super.deviation(test);
    };
  }
}
