// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * What came of a command line.
 *
 * @param exitCode of the program
 * @param out what it printed
 * @param err what it said of failures
 */
record Run(int exitCode, String out, String err) {

  static Run of(String line) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] arguments = line.isEmpty() ? new String[0] : line.split(" ", -1);
    int exitCode = Verbena.run(new PrintWriter(out), new PrintWriter(err), arguments);
    return new Run(exitCode, out.toString(), err.toString());
  }
}
