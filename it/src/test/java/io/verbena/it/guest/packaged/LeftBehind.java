// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest.packaged;

import static org.assertj.core.api.Assertions.fail;

import org.junit.jupiter.api.Test;

class LeftBehind {
  @Test
  void fails() {
    fail("left out, and here nevertheless");
  }
}
