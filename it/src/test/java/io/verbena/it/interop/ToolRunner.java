// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import io.verbena.tools.Verbena;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProviders;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A program: runs the tools whose command lines come on standard input, each followed by a file for
 * its output, and answers their exit codes on standard output. An HCA is open meanwhile, and the
 * tools' with it where they name the same.
 */
final class ToolRunner {
  /** Its first answer. */
  static final String READY = "ready";

  private ToolRunner() {}

  /** Runs it: the URI of the HCA. */
  public static void main(String[] arguments) throws IOException {
    DataOutputStream answers = new DataOutputStream(System.out);
    System.setOut(System.err);
    URI uri = URI.create(arguments[0]);
    Device open = VerbsProviders.find(uri).open(uri);
    answers.writeUTF(READY);
    answers.flush();
    try (DataInputStream lines = new DataInputStream(new BufferedInputStream(System.in))) {
      while (true) {
        String[] words = Tool.words(lines.readUTF());
        answers.writeInt(run(Path.of(lines.readUTF()), words));
        answers.flush();
      }
    } catch (EOFException e) {
      // Whoever started this wants no more of it.
      open.close();
    }
  }

  private static int run(Path output, String[] words) throws IOException {
    try (PrintWriter out =
        new PrintWriter(Files.newBufferedWriter(output, StandardCharsets.UTF_8), true)) {
      return Verbena.run(out, out, words);
    }
  }
}
