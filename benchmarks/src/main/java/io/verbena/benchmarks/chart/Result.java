// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.chart;

/**
 * The result of a participant in a workload, as recorded in a results file.
 *
 * @param workload the workload's id
 * @param participant its name
 * @param role LIMIT, PEER or VERBENA
 * @param unit the unit of the figures
 * @param median the median, or NaN if only the range was recorded
 * @param least the least, or the median if no range was recorded
 * @param most the most, or the median if no range was recorded
 */
record Result(
    String workload,
    String participant,
    String role,
    String unit,
    double median,
    double least,
    double most) {
  private static final String VERBENA = "VERBENA";
  private static final String LIMIT = "LIMIT";

  boolean isVerbena() {
    return role.equals(VERBENA);
  }

  boolean isLimit() {
    return role.equals(LIMIT);
  }

  /** Returns this result as per cent of a figure. */
  Result percentOf(double whole) {
    double factor = 100 / whole;
    return new Result(
        workload, participant, role, unit, median * factor, least * factor, most * factor);
  }
}
