// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.VerbsException;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.SocketTimeoutException;

/** Prints failures, with advice for the user. */
final class FailureReport {
  private FailureReport() {}

  /** Prints a failure and returns the exit code. */
  static int print(Exception failure, PrintWriter err) {
    if (failure instanceof ToolFailure explained) {
      say(err, String.valueOf(explained.getMessage()), explained.advice());
    } else if (failure instanceof VerbsException verbs) {
      say(err, String.valueOf(verbs.getMessage()), advice(verbs));
    } else if (failure instanceof SocketTimeoutException) {
      say(
          err,
          "the other end sent nothing in time",
          "check that it runs the same test; --timeout SECONDS waits longer");
    } else if (failure instanceof EOFException) {
      say(err, "the other end closed the connection", "look at its output");
    } else if (failure instanceof IOException) {
      say(err, String.valueOf(failure.getMessage()), "look at the output of the other end");
    } else {
      // A bug: print the stack trace.
      failure.printStackTrace(err);
    }
    err.flush();
    return 1;
  }

  private static void say(PrintWriter err, String message, String advice) {
    err.println("verbena: " + message);
    if (!advice.isEmpty()) {
      err.println("  -> " + advice);
    }
  }

  private static String advice(VerbsException failure) {
    return switch (failure.error()) {
      case NO_DEVICE -> "`verbena devices` lists what is here";
      case NOT_SUPPORTED, INVALID -> "`verbena device URI` prints what the device supports";
      case ADDRESS_IN_USE -> "end the server that listens there, or take another port with -p";
      case NO_MEMORY -> "ask for less, or raise `ulimit -l`; `verbena device URI` has the limits";
      case NOT_PERMITTED -> "run it as a user who may open /dev/infiniband";
      case BUSY, CLOSED, FAULT, IO -> "look at the kernel log and at the output of the other end";
    };
  }
}
