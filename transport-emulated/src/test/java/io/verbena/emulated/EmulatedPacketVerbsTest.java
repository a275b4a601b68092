package io.verbena.emulated;

import io.verbena.tck.VerbsTck;
import java.net.URI;

/** What every verbs provider must do, done in packets over a simulated wire. */
class EmulatedPacketVerbsTest extends VerbsTck {
  /** A receiver that is not ready costs 655 ms here, as on any wire. */
  private static final int FEWER = 20;

  @Override
  protected int rounds(int full) {
    return Math.max(1, full / FEWER);
  }

  @Override
  protected URI address(String name) {
    return URI.create("emulated://" + name + "?wire=simulated");
  }
}
