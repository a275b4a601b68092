// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.disni.address.DisniAddress;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DisniAddressTest {
  @Test
  void readsHostPortAndOptions() {
    DisniAddress address =
        DisniAddress.parse(
            DisniAddress.SCHEME,
            URI.create("disni://10.1.2.3:7000?device=mlx5_0&port=2&gid=3&source=10.1.2.4"));

    assertThat(address.socket().getAddress().getHostAddress()).isEqualTo("10.1.2.3");
    assertThat(address.socket().getPort()).isEqualTo(7000);
    assertThat(address.device()).isEqualTo("mlx5_0");
    assertThat(address.port()).isEqualTo(2);
    assertThat(address.gid()).isEqualTo(3);
    assertThat(String.valueOf(address.source())).endsWith("10.1.2.4");
  }

  @Test
  void readsWhatQueuePairsAreToHave() {
    DisniAddress address =
        DisniAddress.parse(
            DisniAddress.SCHEME,
            URI.create("disni://10.1.2.3?tos=255&ack-timeout=31&rnr-timer=0&vector=7"));

    assertThat(address.tos()).isEqualTo(255);
    assertThat(address.ackTimeout()).isEqualTo(31);
    assertThat(address.rnrTimer()).isZero();
    assertThat(address.vector()).isEqualTo(7);
  }

  @Test
  void readsHowCompletionQueuesAreModerated() {
    DisniAddress address =
        DisniAddress.parse(
            DisniAddress.SCHEME, URI.create("disni://10.1.2.3?cq-count=65535&cq-period=1"));

    assertThat(address.cqCount()).isEqualTo(65_535);
    assertThat(address.cqPeriod()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({
    "tos=256, tos: 256 (expected: 0..255)",
    "cq-count=65536&cq-period=1, cq-count: 65536 (expected: 1..65535)",
    "cq-count=1&cq-period=0, cq-period: 0 (expected: 1..65535)",
    "cq-count=16, cq-count: 16 (expected: with cq-period)",
    "cq-period=20, cq-period: 20 (expected: with cq-count)"
  })
  void namesTheOptionAndWhatIsExpected(String options, String message) {
    URI address = URI.create("disni://10.1.2.3?" + options);

    assertThatThrownBy(() -> DisniAddress.parse(DisniAddress.SCHEME, address))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.INVALID))
        .hasMessageContaining(message);
  }

  @Test
  void needsNeitherPortNorOptions() {
    DisniAddress address = DisniAddress.parse(DisniAddress.SCHEME, URI.create("disni://[fd77::1]"));

    assertThat(address.socket().getPort()).isZero();
    assertThat(address.device()).isNull();
    assertThat(address.port()).isEqualTo(DisniAddress.UNSET);
    assertThat(address.gid()).isEqualTo(DisniAddress.UNSET);
    assertThat(address.tos()).isEqualTo(DisniAddress.UNSET);
    assertThat(address.cqCount()).isEqualTo(DisniAddress.UNSET);
    assertThat(address.cqPeriod()).isEqualTo(DisniAddress.UNSET);
    assertThat(address.source()).isNull();
    assertThat(DisniAddress.uri(DisniAddress.SCHEME, address.socket()).getHost())
        .startsWith("[fd77:")
        .endsWith(":1]");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "emulated://10.1.2.3",
        "disni:///x",
        "disni://10.1.2.3:65536",
        "disni://10.1.2.3?colour=red",
        "disni://10.1.2.3?device",
        "disni://10.1.2.3?port=0",
        "disni://10.1.2.3?gid=-1",
        "disni://10.1.2.3?gid=first",
        "disni://10.1.2.3?tos=256",
        "disni://10.1.2.3?tos=low",
        "disni://10.1.2.3?ack-timeout=32",
        "disni://10.1.2.3?rnr-timer=-1",
        "disni://10.1.2.3?relaxed-ordering=yes",
        "disni://10.1.2.3?vector=-1",
        "disni://10.1.2.3?cq-count=0&cq-period=1",
        "disni://10.1.2.3?cq-count=1&cq-period=short"
      })
  void refusesWhatItDoesNotKnowAndNamesIt(String address) {
    assertThatThrownBy(() -> DisniAddress.parse(DisniAddress.SCHEME, URI.create(address)))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.INVALID))
        .hasMessageContaining(address)
        .hasMessageContaining("expected");
  }
}
