// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.stat;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.stat.QueuePairsMXBean.View;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

class QueuePairJsonTest {

  @Test
  void hasDigitsOfJsonWhateverTheLocale() {
    StringWriter text = new StringWriter();
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
    try {
      new QueuePairJson(new PrintWriter(text)).print(List.of(new Pair()));
    } finally {
      Locale.setDefault(before);
    }

    assertThat(text.toString())
        .contains("\"lqpn\": 4711, \"rqpn\": -1,", "\"figures\": {\"rnr_sent\": 5}");
  }

  private static final class Pair implements View {
    @Override
    public String getDevice() {
      return "emulated0";
    }

    @Override
    public int getNumber() {
      return 4711;
    }

    @Override
    public int getPeer() {
      return -1;
    }

    @Override
    public String getType() {
      return "RC";
    }

    @Override
    public String getState() {
      return "RTS";
    }

    @Override
    public String getUser() {
      return "";
    }

    @Override
    public Map<String, Integer> getCredits() {
      return Map.of();
    }

    @Override
    public Map<String, Long> getFigures() {
      return Map.of("RNR_SENT", 5L);
    }
  }
}
