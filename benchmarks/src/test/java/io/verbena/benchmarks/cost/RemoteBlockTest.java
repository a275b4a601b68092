// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class RemoteBlockTest {

  @Test
  void travelsAsText() {
    RemoteBlock target = new RemoteBlock(0x7fff_0000_1000L, -5);

    assertThat(RemoteBlock.decode(target.encode())).isEqualTo(target);
  }

  @Test
  void refusesWhatIsNone() {
    assertThatThrownBy(() -> RemoteBlock.decode("accept"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("target: accept (expected: ADDRESS KEY)");
  }
}
