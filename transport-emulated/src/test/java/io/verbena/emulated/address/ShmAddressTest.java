// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.address;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests parsing and printing of {@code shm://} addresses. */
class ShmAddressTest {

  @ParameterizedTest
  @CsvSource({
    "/tmp/plain-1_2.3, /tmp/plain-1_2.3",
    "/tmp/a%20b, /tmp/a b",
    "/tmp/a+b, /tmp/a b",
    "/tmp/a%2Bb, /tmp/a+b",
    "/tmp/a%25b, /tmp/a%b",
    "/tmp/a%26pcap=b, /tmp/a&pcap=b",
    "/tmp/a%23%3F, /tmp/a#?",
    "/tmp/%C3%A4, /tmp/\u00e4"
  })
  void withAnotherPortItLeadsToTheSameFolder(String dir, String folder) {
    ShmAddress read = ShmAddress.parse(URI.create("shm://orders?dir=" + dir));
    ShmAddress told = ShmAddress.parse(read.at(7));

    assertThat(read.option(ShmAddress.Option.DIR)).isEqualTo(folder);
    assertThat(told.option(ShmAddress.Option.DIR)).isEqualTo(folder);
    assertThat(told.name()).isEqualTo("orders");
    assertThat(told.port()).isEqualTo(7);
  }
}
