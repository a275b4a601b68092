// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/** The figure that is measured. */
enum Measure {
  BW("BW"),
  LAT("Latency");

  private final String title;

  Measure(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }
}
