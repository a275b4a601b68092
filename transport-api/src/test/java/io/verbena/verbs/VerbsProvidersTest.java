// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import org.junit.jupiter.api.Test;

class VerbsProvidersTest {
  @Test
  void saysWhatIsPresentWhenTheSchemeIsUnknown() {
    assertThatThrownBy(() -> VerbsProviders.find(URI.create("nosuch://there")))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("nosuch")
        .hasMessageContaining("present: none");
  }

  @Test
  void takesAUriWithoutSchemeForUnknown() {
    assertThatThrownBy(() -> VerbsProviders.find(URI.create("there")))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("scheme ''");
  }
}
