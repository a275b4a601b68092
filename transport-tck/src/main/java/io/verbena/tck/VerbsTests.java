package io.verbena.tck;

import io.verbena.verbs.Capability;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/** What all areas share: a context for each test, closed after it. */
@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
abstract class VerbsTests {
  final TckContext tck;

  VerbsTests(VerbsTck provider) {
    tck = new TckContext(provider);
  }

  /**
   * Whether the device lacks this; if so, the test has nothing to show but that a request which
   * needs it is refused, and that is asserted here.
   */
  boolean isRefused(Capability capability) {
    if (tck.supports(capability)) {
      return false;
    }
    Refusal.of(capability, tck.connected());
    return true;
  }

  @AfterEach
  void leavesNothingOpen() {
    tck.close();
  }
}
