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

/** The base of all fault tests: restores the network after each test, and checks for leaks. */
abstract class FaultTests {
  private Held before = new Held(Map.of());

  /** Opens in advance what is opened once and stays open until the process ends. */
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
