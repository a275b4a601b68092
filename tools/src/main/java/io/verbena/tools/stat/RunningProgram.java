// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.stat;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.stat.QueuePairsMXBean;
import io.verbena.verbs.stat.QueuePairsMXBean.View;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.FutureTask;
import javax.management.JMX;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.jspecify.annotations.Nullable;

/** A JVM of the same user, and the way to its beans if it has Verbena. */
final class RunningProgram implements AutoCloseable {
  private final String name;
  private final @Nullable JMXConnector connector;

  private RunningProgram(String name, @Nullable JMXConnector connector) {
    this.name = name;
    this.connector = connector;
  }

  /**
   * Attaches to a JVM, and connects to its management agent if it has had a queue pair; starts no
   * agent in other JVMs.
   *
   * @throws ToolFailure if it does not answer
   */
  static RunningProgram attach(long pid) throws InterruptedException, ToolFailure {
    Jvm.require(pid);
    String name = "process " + pid;
    return new RunningProgram(name, TimedCall.to(name, () -> connect(name, Long.toString(pid))));
  }

  @SuppressWarnings("BanJNDI") // The address is of this machine, from a JVM of the same user.
  private static @Nullable JMXConnector connect(String name, String pid)
      throws IOException, ToolFailure {
    VirtualMachine machine;
    try {
      machine = VirtualMachine.attach(pid);
    } catch (AttachNotSupportedException e) {
      throw new ToolFailure(
          name + ": " + e.getMessage(),
          "check whether it was started with -XX:+DisableAttachMechanism");
    }
    try {
      return machine.getSystemProperties().getProperty(QueuePairsMXBean.PROPERTY) == null
          ? null
          : JMXConnectorFactory.connect(new JMXServiceURL(machine.startLocalManagementAgent()));
    } finally {
      machine.detach();
    }
  }

  /** Returns whether it has had a queue pair. */
  boolean hasVerbena() {
    return connector != null;
  }

  /**
   * Fails unless {@link #hasVerbena}.
   *
   * @throws ToolFailure if not
   */
  void requireVerbena() throws ToolFailure {
    if (!hasVerbena()) {
      throw new ToolFailure(
          name + ": a JVM without queue pairs of Verbena",
          "`verbena stat` lists those that have some");
    }
  }

  /**
   * Returns its current queue pairs, by device and number.
   *
   * @throws ToolFailure if it does not answer
   */
  List<View> queuePairs() throws InterruptedException, ToolFailure {
    JMXConnector open = connector;
    return open == null ? List.of() : TimedCall.to(name, () -> queuePairs(open));
  }

  private static List<View> queuePairs(JMXConnector open) throws Exception {
    MBeanServerConnection server = open.getMBeanServerConnection();
    List<View> pairs = new ArrayList<>();
    for (ObjectName bean : server.queryNames(new ObjectName(QueuePairsMXBean.NAME + ",*"), null)) {
      pairs.addAll(JMX.newMXBeanProxy(server, bean, QueuePairsMXBean.class).getQueuePairs());
    }
    pairs.sort(Comparator.comparing(View::getDevice).thenComparing(View::getNumber));
    return pairs;
  }

  @Override
  public void close() {
    JMXConnector open = connector;
    if (open != null) {
      FutureTask<String> unused =
          TimedCall.start(
              () -> {
                open.close();
                return name;
              });
    }
  }
}
