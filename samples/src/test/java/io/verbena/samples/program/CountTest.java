// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class CountTest {
  private final Count count = new Count();

  @ParameterizedTest
  @ValueSource(strings = {"1", "2147483647"})
  void takesAWholeNumber(String value) {
    assertThat(count.convert(value)).isEqualTo(Integer.parseInt(value));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "2147483648", "99999999999", "1.5", ""})
  void refusesAnotherValueByName(String value) {
    assertThatThrownBy(() -> count.convert(value))
        .isInstanceOf(TypeConversionException.class)
        .hasMessage(value + " (expected: a whole number from 1 to 2147483647)");
  }
}
