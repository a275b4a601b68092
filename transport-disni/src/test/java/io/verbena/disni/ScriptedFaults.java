// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Tests of faults that the script of the fake rdma-core makes. The script is one for the whole
 * process, so nothing else runs meanwhile, and each test leaves it empty.
 */
@Tag(FakeRdmaCore.TAG)
@Isolated("the script makes calls of all devices fail")
abstract class ScriptedFaults {
  /** The time that a test waits for what must come. */
  static final long NANOS = TimeUnit.SECONDS.toNanos(10);

  /** A deadline that is to pass. */
  static final long SOON = TimeUnit.MILLISECONDS.toNanos(50);

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  @AfterEach
  void clear() {
    FakeRdmaCore.script("clear");
  }
}
