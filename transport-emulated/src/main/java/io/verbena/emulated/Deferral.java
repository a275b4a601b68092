package io.verbena.emulated;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** What an {@link Engine} has to do for one queue pair. */
final class Deferral {
  /** Next of those that are scheduled; the engine's. */
  @Nullable Deferral next;

  private final Engine engine;
  private final SplittableRandom random;
  private final DeferredSends sends;
  private final DeferredReceives receives;
  private final AtomicBoolean scheduled = new AtomicBoolean();

  Deferral(Engine engine, DeferredSends sends, DeferredReceives receives) {
    this.engine = engine;
    random = engine.random();
    this.sends = sends;
    this.receives = receives;
  }

  /** There may be something to do. */
  void schedule() {
    engine.schedule(this);
  }

  boolean markScheduled() {
    return !scheduled.get() && scheduled.compareAndSet(false, true);
  }

  void unmarkScheduled() {
    scheduled.set(false);
  }

  /** Does one of the things that may be done now; false if there is none. For the engine. */
  boolean step() {
    return random.nextBoolean()
        ? sends.step(random) || receives.showOne()
        : receives.showOne() || sends.step(random);
  }
}
