// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.stat;

import io.verbena.verbs.QueuePair;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.stat.QueuePairsMXBean;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Shows the open queue pairs to those who manage the JVM. */
final class QueuePairsBean implements QueuePairsMXBean {
  private static final Logger LOG = System.getLogger(QueuePairsMXBean.class.getName());

  /** More class loaders with Verbena than this are taken for a fault. */
  private static final int MOST_LOADERS = 1000;

  private QueuePairsBean() {}

  /** Registers the bean of this class loader. */
  static void register() {
    try {
      register(ManagementFactory.getPlatformMBeanServer());
      System.setProperty(PROPERTY, NAME);
    } catch (JMException | RuntimeException e) {
      // The program is not harmed; and a program that closes the class loader this soon has no
      // queue pairs to show.
      LOG.log(Level.INFO, "verbena stat will not see this JVM's queue pairs", e);
    } catch (LinkageError e) {
      // A JVM that was linked without the module java.management: nobody can manage it.
      LOG.log(Level.DEBUG, "verbena stat will not see this JVM's queue pairs", e);
    }
  }

  private static void register(MBeanServer server) throws JMException {
    QueuePairsBean bean = new QueuePairsBean();
    for (int id = 1; ; id++) {
      try {
        server.registerMBean(bean, new ObjectName(id == 1 ? NAME : NAME + ",id=" + id));
        return;
      } catch (InstanceAlreadyExistsException e) {
        if (id == MOST_LOADERS) {
          throw e;
        }
      }
    }
  }

  @Override
  public List<View> getQueuePairs() {
    List<View> views = new ArrayList<>();
    for (Map.Entry<QueuePair, QueuePairUser> each : OpenQueuePairs.users().entrySet()) {
      try {
        views.add(QueuePairView.of(each.getKey(), each.getValue()));
      } catch (VerbsException e) {
        LOG.log(
            Level.DEBUG, "queue pair " + each.getKey().number() + " cannot be read any more", e);
      }
    }
    return views;
  }
}
