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
 * A program that runs tools. It reads command lines from standard input, each followed by a file
 * for the tool's output, and writes the exit codes to standard output. An HCA is open meanwhile;
 * tools with the same URI share it.
 */
final class ToolRunner {
  /** The first answer. */
  static final String READY = "ready";

  private ToolRunner() {}

  /** Runs the program: the URI of the HCA. */
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
      // The caller has closed standard input.
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
