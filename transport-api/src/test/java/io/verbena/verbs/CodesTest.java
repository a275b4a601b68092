// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class CodesTest {
  @Test
  void statusesKeepTheirNumbers() {
    for (CompletionStatus status : CompletionStatus.values()) {
      assertThat(CompletionStatus.of(status.code())).isSameAs(status);
    }
    assertThat(CompletionStatus.REM_ACCESS_ERR.code()).isEqualTo(10);
    assertThat(CompletionStatus.RNR_RETRY_EXC_ERR.code()).isEqualTo(13);
  }

  @Test
  void aStatusThatNobodyKnowsIsAGeneralError() {
    assertThat(CompletionStatus.of(3)).isSameAs(CompletionStatus.GENERAL_ERR);
    assertThat(CompletionStatus.of(-1)).isSameAs(CompletionStatus.GENERAL_ERR);
    assertThat(CompletionStatus.of(999)).isSameAs(CompletionStatus.GENERAL_ERR);
  }

  @Test
  void opcodesKeepTheirNumbers() {
    for (CompletionOpcode opcode : CompletionOpcode.values()) {
      assertThat(CompletionOpcode.of(opcode.code())).isSameAs(opcode);
    }
    assertThatThrownBy(() -> CompletionOpcode.of(77)).hasMessageContaining("77");
  }

  @Test
  void gidsReadAsAddresses() {
    assertThat(new Gid(0xfe80_0000_0000_0000L, 0x0202_c9ff_fe12_3456L))
        .hasToString("fe80:0000:0000:0000:0202:c9ff:fe12:3456");
  }

  @Test
  void mtusAreBytes() {
    assertThat(Mtu.MTU_256.bytes()).isEqualTo(256);
    assertThat(Mtu.MTU_4096.bytes()).isEqualTo(4096);
  }
}
