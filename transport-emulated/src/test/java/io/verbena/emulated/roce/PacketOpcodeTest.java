// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static io.verbena.emulated.roce.PacketOpcode.Kind;
import static io.verbena.emulated.roce.PacketOpcode.Position;
import static io.verbena.emulated.roce.PacketOpcode.Transport;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PacketOpcodeTest {
  @Test
  void knowsTheCodesOfItsTransportsAndNoOther() {
    assertThat(Arrays.stream(PacketOpcode.values()).map(PacketOpcode::code))
        .containsExactlyElementsOf(
            Stream.of(
                    IntStream.rangeClosed(0x00, 0x14),
                    IntStream.of(0x16, 0x17),
                    IntStream.rangeClosed(0x20, 0x2b),
                    IntStream.of(0x64, 0x65, 0x81))
                .flatMap(IntStream::boxed)
                .collect(Collectors.toCollection(TreeSet::new)));
  }

  @Test
  void findsAnOpcodeByItsCodeAlone() {
    for (int code = 0; code < 256; code++) {
      PacketOpcode found = PacketOpcode.of(code);
      if (found != null) {
        assertThat(found.code()).isEqualTo(code);
      }
      assertThat(PacketOpcode.of(code | 0x100)).isSameAs(found);
    }
  }

  @ParameterizedTest
  @EnumSource
  void isWhatItsNameSays(PacketOpcode opcode) {
    String name = opcode.name();
    if (opcode == PacketOpcode.CONGESTION_NOTIFICATION) {
      assertThat(opcode.transport()).isEqualTo(Transport.CNP);
      return;
    }
    assertThat(opcode.transport()).isEqualTo(Transport.valueOf(name.substring(0, 2)));
    assertThat(name).contains(opcode.kind().name());
    assertThat(opcode.has(ExtendedHeader.IMM_DT)).isEqualTo(name.endsWith("_IMMEDIATE"));
    assertThat(opcode.has(ExtendedHeader.IETH)).isEqualTo(name.endsWith("_INVALIDATE"));
    if (opcode.position() != Position.ONLY) {
      assertThat(name).contains("_" + opcode.position());
    }
    assertThat(opcode.starts()).isEqualTo(!name.contains("_MIDDLE") && !name.contains("_LAST"));
    assertThat(opcode.ends()).isEqualTo(!name.contains("_MIDDLE") && !name.contains("_FIRST"));
    assertThat(opcode.has(ExtendedHeader.DETH)).isEqualTo(opcode.transport() == Transport.UD);
    assertThat(opcode.has(ExtendedHeader.RETH))
        .isEqualTo(
            opcode.kind() == Kind.READ_REQUEST || (opcode.kind() == Kind.WRITE && opcode.starts()));
  }

  @Test
  void aMiddleOfAReadHasNoAnswerHeader() {
    assertThat(
            Arrays.stream(PacketOpcode.values()).filter(opcode -> opcode.has(ExtendedHeader.AETH)))
        .containsExactly(
            PacketOpcode.RC_READ_RESPONSE_FIRST,
            PacketOpcode.RC_READ_RESPONSE_LAST,
            PacketOpcode.RC_READ_RESPONSE_ONLY,
            PacketOpcode.RC_ACKNOWLEDGE,
            PacketOpcode.RC_ATOMIC_ACKNOWLEDGE);
  }
}
