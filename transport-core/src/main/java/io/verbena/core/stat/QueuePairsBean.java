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

/** The MXBean that shows the open queue pairs of the JVM. */
final class QueuePairsBean implements QueuePairsMXBean {
  private static final Logger LOG = System.getLogger(QueuePairsMXBean.class.getName());

  /** The most class loaders with Verbena in one JVM; more are taken for a fault. */
  private static final int MOST_LOADERS = 1000;

  private QueuePairsBean() {}

  /** Registers the bean of this class loader. */
  static void register() {
    try {
      register(ManagementFactory.getPlatformMBeanServer());
      System.setProperty(PROPERTY, NAME);
    } catch (JMException | RuntimeException e) {
      // Does not harm the program. If the program has closed the class loader already, there are
      // no queue pairs to show.
      LOG.log(Level.INFO, "verbena stat will not see this JVM's queue pairs", e);
    } catch (LinkageError e) {
      // The JVM was linked without the module java.management.
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
