// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Checks an option that is a percentage of packets, in the format of {@code link-loss}. */
final class Percent implements ITypeConverter<String> {
  private static final Pattern NUMBER = Pattern.compile("\\d{1,2}(\\.\\d{1,6})?|100(\\.0{1,6})?");

  @Override
  public String convert(String value) {
    if (NUMBER.matcher(value).matches()) {
      return value;
    }
    throw new TypeConversionException(value + " (expected: per cent, such as 1 or 0.5)");
  }
}
