package io.verbena.emulated;

import io.verbena.tck.VerbsTck;
import java.net.URI;
import org.junit.jupiter.api.extension.ExtendWith;

/** What every verbs provider must do, done by the emulated HCA when it takes its time. */
@ExtendWith(SeedOnFailure.class)
class EmulatedAsyncVerbsTest extends VerbsTck {
  @Override
  protected URI address(String name) {
    return URI.create("emulated://" + name + "?mode=async&seed=" + SeedOnFailure.SEED);
  }

  /** Other threads do the work here, and nap. */
  @Override
  protected int rounds(int full) {
    return Math.max(1, full / 50);
  }
}
