// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.stat;

import com.sun.tools.attach.VirtualMachineDescriptor;
import io.verbena.tools.end.ToolFailure;
import java.io.PrintWriter;

/** The programs of this user that have queue pairs, as {@code jps} lists JVMs. */
final class ProgramList {
  private static final String ROW = "%8s %12s  %s%n";

  private ProgramList() {}

  /** Lists the programs; returns false if some did not answer, and prints them to {@code err}. */
  static boolean list(PrintWriter out, PrintWriter err) throws InterruptedException {
    boolean all = true;
    out.printf(ROW, "pid", "queue_pairs", "program");
    for (VirtualMachineDescriptor each : Jvm.all()) {
      long pid = Long.parseLong(each.id());
      if (!Jvm.isOfThisUser(pid)) {
        continue;
      }
      try (RunningProgram program = RunningProgram.attach(pid)) {
        if (program.hasVerbena()) {
          out.printf(ROW, each.id(), program.queuePairs().size(), each.displayName());
        }
      } catch (ToolFailure e) {
        // A program that has ended meanwhile is not a failure.
        if (ProcessHandle.of(pid).isPresent()) {
          err.println(e.getMessage());
          all = false;
        }
      }
    }
    out.flush();
    err.flush();
    return all;
  }
}
