// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import java.net.URI;
import org.junit.jupiter.api.Nested;

/**
 * The tests of limits only, for providers whose devices can be configured with limits low enough to
 * reach. {@link VerbsTck} contains the same tests and skips limits that are too large.
 */
public abstract class LimitsTck {

  /** Called by the test class of the provider. */
  protected LimitsTck() {}

  /** Returns an address as {@link VerbsTck#address} does, of a device with low limits. */
  protected abstract URI address(String name);

  @Nested
  class Limits extends LimitTests {
    Limits() {
      super(
          new VerbsTck() {
            @Override
            protected URI address(String name) {
              return LimitsTck.this.address(name);
            }
          });
    }
  }
}
