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
  /** The number of seeds, beginning with its first, that must suffice to detect a mistake. */
  private static final long MOST = 3000;

  private static final long MOST_REACTIVE = 10_000;

  /** The maximum number of steps of a shrunken scenario: more are hard to read. */
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
    Map<String, Finding> findings =
        inParallel(
            EngineMistakes.ALL,
            mistake ->
                new Finding(
                    Mutant.of(mistake).search("VERBS").applyAsLong(mistake.firstSeed(), MOST), 0));

    System.out.println(table(findings));
    assertThatAllAreSeen(findings);
  }

  @Test
  @Timeout(600)
  void seesEachMistakeInTheEngineOfStreams() throws InterruptedException, ExecutionException {
    Map<String, Finding> findings =
        inParallel(
            StreamMistakes.ALL,
            mistake ->
                new Finding(
                    Mutant.of(mistake).search("IWARP").applyAsLong(mistake.firstSeed(), MOST), 0));

    System.out.println(table(findings));
    assertThatAllAreSeen(findings);
  }

  @Test
  @Timeout(600)
  void seesEachMistakeInTheReactiveLayerAndShrinksIt()
      throws InterruptedException, ExecutionException {
    Map<String, Finding> findings =
        inParallel(
            LayerMistakes.ALL,
            mistake -> {
              Mutant mutant = Mutant.of(mistake);
              long seed = mutant.search("REACTIVE").applyAsLong(mistake.firstSeed(), MOST_REACTIVE);
              return new Finding(seed, seed < 0 ? 0 : mutant.shrink("REACTIVE").applyAsLong(seed));
            });

    System.out.println(table(findings));
    assertThatAllAreSeen(findings);
    assertThat(findings.values())
        .as("steps that are left: %s", findings)
        .allMatch(each -> each.steps > 0 && each.steps <= MOST_STEPS);
  }

  private static Map<String, Finding> inParallel(
      List<Mistake> mistakes, ThrowingFunction<Mistake, Finding> find)
      throws InterruptedException, ExecutionException {
    Map<String, Finding> findings = new LinkedHashMap<>();
    ExecutorService workers =
        Executors.newFixedThreadPool(
            Runtime.getRuntime().availableProcessors(),
            task -> {
              Thread thread = new Thread(task, "mutation");
              thread.setDaemon(true);
              return thread;
            });
    try {
      List<Future<Finding>> searches = new ArrayList<>();
      for (Mistake mistake : mistakes) {
        searches.add(workers.submit(() -> find.apply(mistake)));
      }
      for (int i = 0; i < searches.size(); i++) {
        findings.put(mistakes.get(i).name(), searches.get(i).get());
      }
      return findings;
    } finally {
      workers.shutdownNow();
    }
  }

  private static void assertThatAllAreSeen(Map<String, Finding> findings) {
    assertThat(findings).isNotEmpty();
    assertThat(findings.values())
        .as("seeds, -1 for undetected mistakes: %s", findings)
        .allMatch(each -> each.seed >= 0);
  }

  private static String table(Map<String, Finding> findings) {
    StringBuilder table = new StringBuilder("| mistake | seed | steps |\n| --- | --- | --- |\n");
    findings.forEach(
        (name, each) -> table.append("| %s | %d | %d |%n".formatted(name, each.seed, each.steps)));
    return table.toString();
  }

  @FunctionalInterface
  private interface ThrowingFunction<T, R> {
    R apply(T argument) throws Exception;
  }

  /**
   * The result of a search.
   *
   * @param seed the first seed that detects the mistake, -1 if none does
   * @param steps the number of steps of the shrunken scenario, 0 if it was not shrunk
   */
  private record Finding(long seed, long steps) {}
}
