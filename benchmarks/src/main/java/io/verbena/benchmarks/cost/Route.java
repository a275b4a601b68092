package io.verbena.benchmarks.cost;

/** Whose packets go to whom. */
enum Route {
  RXE_TO_RXE("rxe > rxe", Site.NODE1, Site.NODE2),
  ROCE_TO_ROCE("roce > roce", Site.OUTSIDE1, Site.OUTSIDE2),
  ROCE_TO_RXE("roce > rxe", Site.OUTSIDE1, Site.NODE2),
  RXE_TO_ROCE("rxe > roce", Site.NODE1, Site.OUTSIDE2);

  /** For people. */
  final String title;

  /** Who connects, pings and writes. */
  final Site near;

  /** Who listens, answers and is written to. */
  final Site far;

  Route(String title, Site near, Site far) {
    this.title = title;
    this.near = near;
    this.far = far;
  }

  /** Whether an HCA in Java has a part in it, which must be compiled first. */
  boolean isEmulated() {
    return near.scheme.equals(Place.ROCE) || far.scheme.equals(Place.ROCE);
  }
}
