package io.verbena.emulated;

import io.verbena.verbs.QueuePairOptions;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The direct fabric in its asynchronous mode: a request is done some time after it was posted, by
 * an {@link Engine} that lives as long as there are devices, in any order that the rules of verbs
 * allow. What is chosen depends on the seed, but also on when the program's threads come.
 */
final class DeferredFabric extends Fabric {
  private final long seed;
  private final SplittableRandom random;
  private int open;
  private @Nullable Engine engine;

  DeferredFabric(long seed) {
    super(Secrets.STRONG);
    this.seed = seed;
    random = new SplittableRandom(seed);
  }

  @Override
  synchronized void plug(EmulatedDevice device) {
    super.plug(device);
    if (open++ == 0) {
      engine = new Engine(random.split(), "emulated-engine-seed-" + seed);
      engine.start();
    }
  }

  @Override
  synchronized void unplug(EmulatedDevice device) {
    super.unplug(device);
    Engine last = engine;
    if (--open == 0 && last != null) {
      engine = null;
      last.end();
    }
  }

  @Override
  synchronized EmulatedQueuePair createQueuePair(
      EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
    return new DirectQueuePair(domain, number, options, engine);
  }
}
