package io.verbena.emulated;

/** With requests that are done when they are posted. */
class RacesTest extends Races {
  RacesTest() {
    super(Fabric.DIRECT);
  }
}
