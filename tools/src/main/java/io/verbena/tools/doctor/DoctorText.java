// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import io.verbena.tools.end.DevinfoLine;
import java.io.PrintWriter;
import java.util.List;

/** An examination in the layout of {@code ibv_devinfo}: verdict and value, advice below. */
final class DoctorText {
  private DoctorText() {}

  static void print(Examination examination, PrintWriter out) {
    String device = examination.device();
    out.println("hca_id:\t" + (device == null ? "none" : device));
    out.println(DevinfoLine.ofDevice("uri", examination.uri()));
    if (examination.port() > 0) {
      out.println(DevinfoLine.ofDevice("port", examination.port()));
    }
    for (Finding finding : examination.findings()) {
      String verdict =
          switch (finding.verdict()) {
            case OK -> "ok      ";
            case NOTE -> "note    ";
            case WRONG -> "WRONG   ";
            case SKIPPED -> "skipped ";
          };
      out.println(DevinfoLine.ofDevice(finding.check(), verdict + finding.value()));
      finding.advice().forEach(step -> out.println(DevinfoLine.more("        -> " + step)));
    }
    List<String> wrong = examination.wrong();
    out.println(
        DevinfoLine.ofDevice(
            "diagnosis",
            wrong.isEmpty() ? "nothing is wrong" : "wrong: " + String.join(", ", wrong)));
    out.println();
  }
}
