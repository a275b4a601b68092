// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.stat;

import com.sun.tools.attach.VirtualMachine;
import com.sun.tools.attach.VirtualMachineDescriptor;
import io.verbena.tools.end.ToolFailure;
import java.util.List;
import java.util.Optional;

/** The JVMs of this machine that can be attached to. */
final class Jvm {
  private static final String DISABLED = "-XX:+DisableAttachMechanism";

  private Jvm() {}

  /** Returns all but this one. */
  static List<VirtualMachineDescriptor> all() {
    String own = Long.toString(ProcessHandle.current().pid());
    return VirtualMachine.list().stream().filter(each -> !each.id().equals(own)).toList();
  }

  /**
   * Fails unless a process is a JVM of this user. Call it before attaching: that sends SIGQUIT,
   * which ends a process that is not a JVM.
   *
   * @throws ToolFailure with the reason and advice
   */
  static void require(long pid) throws ToolFailure {
    ProcessHandle process =
        ProcessHandle.of(pid)
            .orElseThrow(() -> new ToolFailure("process " + pid + ": none has this id", SEE_LIST));
    if (isOfOther(process)) {
      String user = process.info().user().orElse("?");
      String self = ProcessHandle.current().info().user().orElse("?");
      throw new ToolFailure(
          "process " + pid + ": of user " + user + " (expected: " + self + ")",
          "run it as that user: `sudo -u " + user + " bin/verbena stat " + pid + "`");
    }
    if (all().stream().noneMatch(each -> each.id().equals(Long.toString(pid)))) {
      throw unreachable(pid, process.info());
    }
  }

  /** Returns whether a process exists and is not known to be another user's. */
  static boolean isOfThisUser(long pid) {
    return ProcessHandle.of(pid).filter(process -> !isOfOther(process)).isPresent();
  }

  private static boolean isOfOther(ProcessHandle process) {
    Optional<String> user = process.info().user();
    Optional<String> self = ProcessHandle.current().info().user();
    return user.isPresent() && self.isPresent() && !user.equals(self);
  }

  private static final String SEE_LIST = "`verbena stat` lists the programs with queue pairs";

  private static ToolFailure unreachable(long pid, ProcessHandle.Info info) {
    if (pid == ProcessHandle.current().pid()) {
      return new ToolFailure("process " + pid + ": is this one", SEE_LIST);
    }
    boolean disabled = List.of(info.arguments().orElse(new String[0])).contains(DISABLED);
    return disabled
        ? new ToolFailure(
            "process " + pid + ": a JVM that was started with " + DISABLED,
            "start it without that option")
        : new ToolFailure(
            "process " + pid + ": no JVM that shows itself",
            SEE_LIST + "; a JVM shows itself unless it was started with -XX:-UsePerfData");
  }
}
