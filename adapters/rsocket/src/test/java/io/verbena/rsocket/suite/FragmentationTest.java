// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket.suite;

final class FragmentationTest extends RdmaTransportTest {
  FragmentationTest() {
    super(true, false);
  }
}
