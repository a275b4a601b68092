// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A call on a register, as its client saw it. Times are of {@link System#nanoTime}, which all
 * processes of a machine share, also those in containers.
 *
 * @param before the answer, if there was one
 * @param invoked the time of the call
 * @param ended the time at which the client had the answer, or gave up
 * @param isAnswered false if the client cannot know the outcome: the call may have taken effect,
 *     may take effect at any later time, or never
 */
record Operation(Request request, long before, long invoked, long ended, boolean isAnswered) {

  /** Reads a history with one line for each call. */
  static List<Operation> history(Path file) {
    try {
      return Files.readAllLines(file).stream().map(Operation::parse).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Operation parse(String line) {
    String[] parts = line.split(";", -1);
    return new Operation(
        Request.parse(parts[0]),
        Long.parseLong(parts[1]),
        Long.parseLong(parts[2]),
        Long.parseLong(parts[3]),
        Boolean.parseBoolean(parts[4]));
  }

  String line() {
    return request.text() + ";" + before + ";" + invoked + ";" + ended + ";" + isAnswered;
  }

  boolean isWrite() {
    return request.kind() != Request.Kind.GET;
  }
}
