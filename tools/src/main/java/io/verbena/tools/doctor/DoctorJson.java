// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** An examination as one JSON object. */
final class DoctorJson {
  private DoctorJson() {}

  static void print(Examination examination, PrintWriter out) {
    out.println(
        "{\"uri\": %s, \"device\": %s, \"port\": %s, \"healthy\": %s, \"findings\": [\n%s\n]}"
            .formatted(
                string(examination.uri().toString()),
                string(examination.device()),
                examination.device() == null ? "null" : examination.port(),
                examination.wrong().isEmpty(),
                examination.findings().stream()
                    .map(DoctorJson::object)
                    .collect(Collectors.joining(",\n"))));
  }

  private static String object(Finding finding) {
    return "  {\"check\": %s, \"verdict\": %s, \"value\": %s, \"advice\": %s}"
        .formatted(
            string(finding.check()),
            string(finding.verdict().name().toLowerCase(Locale.ROOT)),
            string(finding.value()),
            array(finding.advice()));
  }

  private static String array(List<String> texts) {
    return texts.stream().map(DoctorJson::string).collect(Collectors.joining(", ", "[", "]"));
  }

  private static String string(@Nullable String text) {
    if (text == null) {
      return "null";
    }
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < ' ') {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c == '"' || c == '\\' ? "\\" : "").append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
