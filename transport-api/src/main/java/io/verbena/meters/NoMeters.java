// SPDX-License-Identifier: Apache-2.0
package io.verbena.meters;

/** Meters that do nothing. */
final class NoMeters implements Meters {
  private static final Watch NOTHING = () -> {};

  @Override
  public HcaMeter hca(MeteredHca hca) {
    return HcaMeter.OFF;
  }

  @Override
  public Watch watch(String adapter, String provider, Backlog backlog) {
    return NOTHING;
  }

  @Override
  public String toString() {
    return "OFF";
  }
}
