// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket.suite;

final class PlainTest extends RdmaTransportTest {
  PlainTest() {
    super(false, false);
  }
}
