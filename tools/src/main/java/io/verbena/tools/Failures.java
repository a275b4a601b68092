package io.verbena.tools;

import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.VerbsException;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.SocketTimeoutException;

/** Tells of failures, and what to do next. */
final class Failures {
  private Failures() {}

  /** Answers the exit code. */
  static int tell(Exception failure, PrintWriter err) {
    if (failure instanceof ToolFailure told) {
      say(err, String.valueOf(told.getMessage()), told.advice());
    } else if (failure instanceof VerbsException verbs) {
      say(err, String.valueOf(verbs.getMessage()), advice(verbs));
    } else if (failure instanceof SocketTimeoutException) {
      say(
          err,
          "the other end says nothing",
          "see whether it is of the same test; --timeout SECONDS waits longer");
    } else if (failure instanceof EOFException) {
      say(err, "the other end closed the connection", "see what it says");
    } else if (failure instanceof IOException) {
      say(err, String.valueOf(failure.getMessage()), "see what the other end says");
    } else {
      // Nobody foresaw it: the place tells more than any words.
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
      case NOT_SUPPORTED, INVALID -> "`verbena device URI` tells what the device takes";
      case ADDRESS_IN_USE -> "end the server that listens there, or take another port with -p";
      case NO_MEMORY -> "ask for less, or raise `ulimit -l`; `verbena device URI` has the limits";
      case NOT_PERMITTED -> "run it as a user who may open /dev/infiniband";
      case BUSY, CLOSED, FAULT, IO -> "see what the kernel and the other end say";
    };
  }
}
