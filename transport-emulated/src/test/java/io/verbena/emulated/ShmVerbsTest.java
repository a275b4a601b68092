// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.tck.Deviation;
import io.verbena.tck.VerbsTck;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;

/** The verbs TCK over shared memory, from a host to itself. */
@Tag("once")
class ShmVerbsTest extends VerbsTck {
  private static final int FEWER = 50;

  @Override
  protected int iterations(int full) {
    return Math.max(1, full / FEWER);
  }

  @Override
  protected @Nullable Deviation deviation(String test) {
    return new RoceVerbsTest().deviation(test);
  }

  @Override
  protected URI address(String name) {
    return URI.create("shm://tck-" + ProcessHandle.current().pid() + "-" + name);
  }
}
