// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PingTest {

  @ParameterizedTest
  @ValueSource(ints = {26, 64, 65_535})
  void showsWhatCameBack(int size) {
    Run run = Run.of("ping --local -v -V -C 3 -S " + size);

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out().lines())
        .hasSize(3)
        .allSatisfy(line -> assertThat(line).hasSize("ping data: ".length() + size - 1));
    assertThat(run.out())
        .startsWith("ping data: rdma-ping-0: ABCDEFGHIJKL")
        .contains("\nping data: rdma-ping-1: BCDEFGHIJKLM")
        .contains("\nping data: rdma-ping-2: CDEFGHIJKLMN");
  }

  @Test
  void goesOverPacketsToo() {
    Run run = Run.of("ping --local -V -C 3 -S 9000 -a emulated://packets?wire=simulated");

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out()).isEmpty();
  }
}
