// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import io.verbena.emulated.SeedOnFailure;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Closes each kind of object during each operation on every medium. The seed and the scheduler
 * decide at which point of an operation the object is closed. {@code -Dverbena.closing.rounds=1000}
 * runs more rounds.
 */
@ExtendWith(SeedOnFailure.class)
class ClosingTest {
  private static final int ROUNDS = Integer.getInteger("verbena.closing.rounds", 5);

  static List<Arguments> cells() {
    List<Arguments> cells = new ArrayList<>();
    for (Medium medium : Medium.values()) {
      for (Operation operation : Operation.values()) {
        for (Closing closing : Closing.values()) {
          if (medium.has(operation) && (operation.namesMemory() || !closing.needsWindow())) {
            cells.add(Arguments.of(medium, operation, closing));
          }
        }
      }
    }
    return cells;
  }

  @ParameterizedTest(name = "{0}: {1}, {2}")
  @MethodSource("cells")
  void memoryIsNotTouchedOnceItIsClosedAndNothingIsLostOrDoubled(
      Medium medium, Operation operation, Closing closing) throws Exception {
    String cell = medium.name() + operation.name() + closing.name();
    SplittableRandom random = new SplittableRandom(SeedOnFailure.SEED + cell.hashCode());
    try (EmulatedDevice device = medium.open();
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      for (int i = 0; i < ROUNDS; i++) {
        new ClosingRound(device, domain, medium, operation, closing, random.split()).run();
      }
    }
  }
}
