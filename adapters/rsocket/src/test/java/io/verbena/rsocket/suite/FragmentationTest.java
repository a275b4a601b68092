// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket.suite;

import org.junit.jupiter.api.Tag;

@Tag("once")
final class FragmentationTest extends RdmaTransportTest {
  FragmentationTest() {
    super(true, false);
  }
}
