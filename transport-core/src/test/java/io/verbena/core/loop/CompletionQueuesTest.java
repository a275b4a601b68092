// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.meters.HcaMeter;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the completion queues of a loop on the emulated HCA. */
class CompletionQueuesTest {
  private static final URI ADDRESS = URI.create("emulated://completion-queues");

  private final Device device = VerbsProviders.find(ADDRESS).open(ADDRESS);
  private final Entries entries = new Entries();
  private final CompletionQueues<CompletionTarget> queues =
      new CompletionQueues<>(device, null, entries);

  @AfterEach
  void close() {
    device.close();
  }

  @Test
  void countsTheEntriesOfAQueueThatCannotBeClosedUntilItIsClosed() {
    CompletionQueue queue = queues.join(completion -> {}, 8).queue();
    assertThat(entries.count).isEqualTo(queue.depth()).isPositive();
    ProtectionDomain domain = device.allocateProtectionDomain();
    QueuePair user = domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1));

    assertThatThrownBy(queues::close).isInstanceOf(VerbsException.class);

    assertThat(entries.count).isEqualTo(queue.depth());
    user.close();
    domain.close();
    queues.close();
    assertThat(entries.count).isZero();
  }

  /** Counts the entries of open completion queues. */
  private static final class Entries extends HcaMeter {
    private long count;

    @Override
    public void completionQueues(long more) {
      count += more;
    }
  }
}
