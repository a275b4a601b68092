package io.verbena.tck;

import java.net.URI;
import org.junit.jupiter.api.Nested;

/**
 * The area of limits alone, for a provider whose devices' limits can be set down so low that each
 * of them can be met. {@link VerbsTck} has the area too, and skips what a device has too much of.
 */
public abstract class LimitsTck {

  /** For the provider's test class. */
  protected LimitsTck() {}

  /** As {@link VerbsTck#address}, of devices with low limits. */
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
