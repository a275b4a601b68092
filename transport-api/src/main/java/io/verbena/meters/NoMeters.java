package io.verbena.meters;

/** Tells nobody. */
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
