// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.mutation;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.ResourceLeakDetector;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Checks that the simulation detects each of a list of mistakes. */
@Tag("once")
class MutationTest {
  /** The number of seeds within which each mistake must be detected. */
  private static final long MOST = 3000;

  private static final long MOST_REACTIVE = 3000;

  /** The number of steps of a failing scenario that a person can still read. */
  private static final long MOST_STEPS = 20;

  private final ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();

  @BeforeEach
  void disableLeakDetection() {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
  }

  @AfterEach
  void restoreLeakDetection() {
    ResourceLeakDetector.setLevel(level);
  }

  @Test
  @Timeout(600)
  void seesEachMistakeInTheEngine() throws InterruptedException, ExecutionException {
    seesEach(EngineMistakes.ALL, "VERBS", MOST);
  }

  @Test
  @Timeout(600)
  void seesEachMistakeInTheReactiveLayer() throws InterruptedException, ExecutionException {
    seesEach(LayerMistakes.ALL, "REACTIVE", MOST_REACTIVE);
  }

  @Test
  @Timeout(600)
  void shrinksWhatItSees() throws ReflectiveOperationException {
    Map<String, Long> steps = new LinkedHashMap<>();

    for (Mistake mistake : LayerMistakes.ALL) {
      if (LayerMistakes.SHRUNKEN.contains(mistake.name())) {
        Mutant mutant = Mutant.of(mistake);
        long seed = mutant.search("REACTIVE").applyAsLong(MOST_REACTIVE) - 1;
        steps.put(mistake.name(), mutant.shrink("REACTIVE").applyAsLong(seed));
      }
    }

    System.out.println(table(steps));
    assertThat(steps.keySet()).containsAll(LayerMistakes.SHRUNKEN);
    assertThat(steps.values()).as("steps: %s", steps).allMatch(n -> n > 0 && n <= MOST_STEPS);
  }

  private static void seesEach(List<Mistake> mistakes, String program, long most)
      throws InterruptedException, ExecutionException {
    Map<String, Long> seeds = new LinkedHashMap<>();
    ExecutorService workers =
        Executors.newFixedThreadPool(
            Runtime.getRuntime().availableProcessors(),
            task -> {
              Thread thread = new Thread(task, "mutation");
              thread.setDaemon(true);
              return thread;
            });
    List<Future<Long>> searches = new ArrayList<>();
    for (Mistake mistake : mistakes) {
      searches.add(workers.submit(() -> Mutant.of(mistake).search(program).applyAsLong(most)));
    }
    for (int i = 0; i < searches.size(); i++) {
      seeds.put(mistakes.get(i).name(), searches.get(i).get());
    }
    workers.shutdownNow();

    System.out.println(table(seeds));
    assertThat(seeds).isNotEmpty();
    assertThat(seeds.values()).as("seeds, 0 for undetected mistakes: %s", seeds).doesNotContain(0L);
  }

  private static String table(Map<String, Long> seeds) {
    StringBuilder table = new StringBuilder("| mistake | seeds |\n| --- | --- |\n");
    seeds.forEach((name, count) -> table.append("| %s | %d |%n".formatted(name, count)));
    return table.toString();
  }
}
