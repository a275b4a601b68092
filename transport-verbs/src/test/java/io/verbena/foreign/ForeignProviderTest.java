// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** Tests the provider without its classes for JDK 22 and later. */
final class ForeignProviderTest {
  private static final URI ADDRESS = URI.create("verbs://127.0.0.1:7000");

  @Test
  void isFoundByItsScheme() {
    assertThat(VerbsProviders.find(ADDRESS)).isInstanceOf(ForeignProvider.class);
  }

  @Test
  void refusesAndNamesTheOtherScheme() {
    VerbsProvider provider = new ForeignProvider();

    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> provider.open(ADDRESS).close())
        .withMessageContaining("JDK 22 or later")
        .withMessageContaining("disni://")
        .extracting(VerbsException::error)
        .isEqualTo(VerbsError.NOT_SUPPORTED);
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(provider::deviceNames)
        .withMessageContaining("disni://");
  }

  @Test
  void refusesOnAnotherSystemAndNamesAnHcaInSoftware() {
    String system = System.getProperty("os.name");
    System.setProperty("os.name", "Windows 11");
    try {
      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(new ForeignProvider()::deviceNames)
          .withMessageContaining("needs Linux")
          .withMessageContaining("this is Windows 11")
          .withMessageContaining("emulated://")
          .extracting(VerbsException::error)
          .isEqualTo(VerbsError.NOT_SUPPORTED);
    } finally {
      System.setProperty("os.name", system);
    }
  }

  @Test
  void takesAddressesOfItsOwnSchemeAlone() {
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> new ForeignProvider().open(URI.create("disni://127.0.0.1")).close())
        .withMessageContaining("(expected: verbs://host:port)");
  }
}
