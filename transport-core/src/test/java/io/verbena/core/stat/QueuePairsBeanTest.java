// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.stat;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.core.testing.ClassPath;
import io.verbena.verbs.stat.QueuePairsMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.net.URLClassLoader;
import java.util.HashSet;
import java.util.Set;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

class QueuePairsBeanTest {
  private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();

  @Test
  void hasANameForEachClassLoaderWithVerbena() throws Exception {
    try (URLClassLoader one = loader();
        URLClassLoader other = loader()) {
      register(one);
      register(other);

      // Found by class loader, because this JVM's own bean may register at any time on its thread.
      Set<ObjectName> registered = new HashSet<>();
      for (ObjectName name : names()) {
        if (Set.of(one, other).contains(server.getClassLoaderFor(name))) {
          registered.add(name);
        }
      }
      assertThat(registered).hasSize(2);
      assertThat(names()).contains(new ObjectName(QueuePairsMXBean.NAME));
      assertThat(System.getProperty(QueuePairsMXBean.PROPERTY)).isEqualTo(QueuePairsMXBean.NAME);
      for (ObjectName name : registered) {
        assertThat((Object[]) server.getAttribute(name, "QueuePairs")).isEmpty();
        server.unregisterMBean(name);
      }
    }
  }

  private Set<ObjectName> names() throws Exception {
    return server.queryNames(new ObjectName(QueuePairsMXBean.NAME + ",*"), null);
  }

  private static URLClassLoader loader() throws Exception {
    return new URLClassLoader(
        ClassPath.without(entry -> false), ClassLoader.getPlatformClassLoader());
  }

  private static void register(ClassLoader loader) throws Exception {
    Class<?> bean = loader.loadClass(QueuePairsBean.class.getName());
    assertThat(bean).isNotEqualTo(QueuePairsBean.class);
    Method register = bean.getDeclaredMethod("register");
    register.setAccessible(true);
    register.invoke(null);
  }
}
