// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

/** With requests that are done when they are posted. */
class RacesTest extends Races {
  RacesTest() {
    super(new DirectFabric());
  }
}
