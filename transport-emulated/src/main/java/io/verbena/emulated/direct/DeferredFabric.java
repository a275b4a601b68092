// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.verbs.QueuePairOptions;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The direct fabric in its asynchronous mode: an {@link AsyncScheduler} executes a request some
 * time after it was posted, in any order that the rules of verbs allow. The scheduler lives as long
 * as there are devices. The order depends on the seed, and on when the program's threads run.
 */
public final class DeferredFabric extends DirectFabric {
  private final long seed;
  private final SplittableRandom random;
  private int open;
  private @Nullable AsyncScheduler scheduler;

  /** Creates a fabric without devices. */
  public DeferredFabric(long seed) {
    this.seed = seed;
    random = new SplittableRandom(seed);
  }

  /** {@inheritDoc} True, so that programs post as they do on an RNIC. */
  @Override
  public boolean hasCostlyPosts() {
    return true;
  }

  @Override
  public synchronized void plug(EmulatedDevice device) {
    super.plug(device);
    if (open++ == 0) {
      scheduler = new AsyncScheduler(random.split(), "emulated-engine-seed-" + seed);
      scheduler.start();
    }
  }

  @Override
  public synchronized void unplug(EmulatedDevice device) {
    super.unplug(device);
    AsyncScheduler last = scheduler;
    if (--open == 0 && last != null) {
      scheduler = null;
      last.end();
    }
  }

  @Override
  public synchronized EmulatedQueuePair createQueuePair(
      EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
    return new DirectQueuePair(this, domain, number, options, scheduler);
  }
}
