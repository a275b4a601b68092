// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.verbena.core.testing.Addresses;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Tests user code that misbehaves in every callback, in every way, at every moment. Its own
 * operation or connection ends once, with a typed error. An innocent connection on the same loops
 * echoes before, meanwhile and after. Each wait ends, each buffer is released, and in the end
 * everything closes. All cases run on the emulated HCA, a sample on others.
 *
 * <p>{@code -Dverbena.misuse.seed} repeats a sample. {@code -Dverbena.misuse.only} runs only the
 * cases whose name contains its value, for instance {@code "READ ON_NEXT"}.
 */
@Execution(ExecutionMode.CONCURRENT)
class MisuseTest {
  private static final long SEED = Long.getLong("verbena.misuse.seed", System.nanoTime());

  /** The number of cases that run per moment on an HCA that takes its time. */
  private static final int MOST = 40;

  private static final String ONLY = System.getProperty("verbena.misuse.only", "");

  private Room room;

  @BeforeEach
  void open() {
    room = new Room();
  }

  @AfterEach
  void close() {
    room.close();
  }

  @TestFactory
  @Execution(ExecutionMode.SAME_THREAD)
  Stream<DynamicNode> afterConnecting() {
    return plays(Moment.CONNECTED);
  }

  @TestFactory
  @Execution(ExecutionMode.SAME_THREAD)
  Stream<DynamicNode> withinACallback() {
    return plays(Moment.WITHIN);
  }

  @TestFactory
  @Execution(ExecutionMode.SAME_THREAD)
  Stream<DynamicNode> inTraffic() {
    return plays(Moment.TRAFFIC);
  }

  @TestFactory
  @Execution(ExecutionMode.SAME_THREAD)
  Stream<DynamicNode> whileClosing() {
    return plays(Moment.CLOSING);
  }

  @TestFactory
  @Execution(ExecutionMode.SAME_THREAD)
  Stream<DynamicNode> whileThePeerDies() {
    return plays(Moment.DYING);
  }

  private Stream<DynamicNode> plays(Moment moment) {
    List<Misuse> all = Misuse.at(moment);
    int count = Addresses.areEmulated() ? all.size() : Math.min(Addresses.rounds(all.size()), MOST);
    Collections.shuffle(all, new Random(SEED));
    String name = count + " of " + all.size() + " misuses, seed " + SEED;
    Stream<DynamicNode> plays =
        all.stream()
            .filter(misuse -> misuse.toString().contains(ONLY))
            .limit(count)
            .map(misuse -> dynamicTest(misuse.toString(), () -> play(misuse)));
    return Stream.of(dynamicContainer(name, plays));
  }

  private void play(Misuse misuse) throws InterruptedException {
    if (misuse.misdeed() == Misdeed.DISPOSES_TRANSPORT) {
      try (Room own = new Room()) {
        Scene scene = new Scene(misuse, own);
        scene.play();
        scene.end();
      }
    } else {
      Scene scene = new Scene(misuse, room);
      scene.play();
      room.echo();
      scene.end();
      room.assertIsEmpty();
    }
    room.echo();
  }
}
