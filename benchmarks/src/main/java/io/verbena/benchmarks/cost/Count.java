// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts an option whose value is at least 1. */
final class Count implements ITypeConverter<Integer> {
  private static final Pattern DIGITS = Pattern.compile("\\d{1,10}");

  @Override
  public Integer convert(String value) {
    long count = DIGITS.matcher(value).matches() ? Long.parseLong(value) : 0;
    if (count < 1 || count > Integer.MAX_VALUE) {
      throw new TypeConversionException(
          value + " (expected: a whole number from 1 to " + Integer.MAX_VALUE + ")");
    }
    return (int) count;
  }
}
