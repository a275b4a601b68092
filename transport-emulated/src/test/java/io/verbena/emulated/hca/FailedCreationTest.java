// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** An object that could not be created keeps no reference: all other objects still close. */
class FailedCreationTest {
  private final EmulatedDevice device =
      (EmulatedDevice) new EmulatedProvider().open(URI.create("emulated://hca"));

  @Test
  void aQueuePairOnAClosedQueueLeavesTheOtherQueueFree() {
    EmulatedProtectionDomain domain = device.allocateProtectionDomain();
    CompletionQueue open = device.createCompletionQueue(4, null);
    CompletionQueue closed = device.createCompletionQueue(4, null);
    closed.close();

    assertThatThrownBy(() -> domain.createQueuePair(QueuePairOptions.reliable(open, closed, 1, 1)))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("EBADF");

    open.close();
    domain.close();
    device.close();
  }

  @Test
  void aCompletionQueueOnAClosedChannelIsNotCounted() {
    CompletionChannel channel = device.createCompletionChannel();
    channel.close();

    assertThatThrownBy(() -> device.createCompletionQueue(4, channel))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("EBADF");

    device.close();
  }
}
