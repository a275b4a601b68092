// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.faults;

import io.verbena.it.node.Held;
import io.verbena.it.node.Link;
import io.verbena.it.node.Nodes;
import io.verbena.verbs.ConnectionParameters;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/**
 * The common base of all fault runs: the network is mended afterwards, and nothing is left behind.
 */
abstract class FaultTests {
  private Held before = new Held(Map.of());

  /** Opens now what is opened once and stays with the process. */
  @BeforeAll
  static void warmUp() throws IOException, InterruptedException {
    Link.open(4096, ConnectionParameters.defaults()).close();
    Held.now();
  }

  @BeforeEach
  void count() throws IOException, InterruptedException {
    before = Held.now();
  }

  @AfterEach
  void leavesNothingBehind() throws IOException, InterruptedException {
    Nodes.mend();
    before.awaitAgain();
  }
}
