// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

/** Runs the races with requests that execute when they are posted. */
class RacesTest extends Races {
  RacesTest() {
    super(new DirectFabric());
  }
}
