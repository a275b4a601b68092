// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.stat;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OpenQueuePairsTest {
  private static final URI ADDRESS = URI.create("emulated://open-queue-pairs");

  private final Device device = VerbsProviders.find(ADDRESS).open(ADDRESS);
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final CompletionQueue completions = device.createCompletionQueue(16, null);
  private final QueuePair pair =
      domain.createQueuePair(QueuePairOptions.reliable(completions, completions, 4, 4));

  @AfterEach
  void close() {
    pair.close();
    completions.close();
    domain.close();
    device.close();
  }

  @Test
  void listsAQueuePairOfAProviderUntilItIsClosed() {
    assertThat(OpenQueuePairs.users()).containsKey(pair);
    assertThat(QueuePairView.of(pair, OpenQueuePairs.users().get(pair)).getUser()).isEmpty();

    pair.close();

    assertThat(OpenQueuePairs.users()).doesNotContainKey(pair);
  }

  @Test
  void namesTheUserOfAnOpenQueuePairOnly() {
    QueuePairUser user = new User();
    OpenQueuePairs.use(pair, user);

    assertThat(OpenQueuePairs.users()).containsEntry(pair, user);

    pair.close();
    OpenQueuePairs.use(pair, user);

    assertThat(OpenQueuePairs.users()).doesNotContainKey(pair);
  }

  private record User() implements QueuePairUser {
    @Override
    public String name() {
      return "test";
    }

    @Override
    public Map<String, Integer> credits() {
      return Map.of("messages", 3);
    }
  }
}
