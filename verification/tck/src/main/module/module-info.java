// SPDX-License-Identifier: Apache-2.0
/** The TCK of verbs providers, as JUnit tests. */
module io.verbena.tck {
  requires transitive io.verbena;
  requires transitive org.junit.jupiter.api;
  requires org.assertj.core;
  requires jdk.management;
  requires static org.jspecify;

  exports io.verbena.tck;

  opens io.verbena.tck;

  provides io.verbena.verbs.provider.QueuePairListener with
      io.verbena.tck.ShownQueuePairs;
}
