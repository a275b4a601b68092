package io.verbena.emulated;

import io.verbena.tck.VerbsTck;
import java.net.URI;

/** What every verbs provider must do, done by the emulated HCA. */
class EmulatedVerbsTest extends VerbsTck {
  @Override
  protected URI address(String name) {
    return URI.create("emulated://" + name);
  }
}
