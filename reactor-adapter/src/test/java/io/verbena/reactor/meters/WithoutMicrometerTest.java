// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.meters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** Micrometer is an optional dependency. */
class WithoutMicrometerTest {
  @Test
  void aProgramWithoutItWorks() throws Exception {
    try (URLClassLoader loader =
        new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
      assertThatThrownBy(() -> loader.loadClass("io.micrometer.core.instrument.MeterRegistry"))
          .isInstanceOf(ClassNotFoundException.class);
      Thread current = Thread.currentThread();
      ClassLoader before = current.getContextClassLoader();
      current.setContextClassLoader(loader);
      try {
        Callable<?> program =
            (Callable<?>) loader.loadClass(Echo.class.getName()).getConstructor().newInstance();

        assertThat(program.getClass()).isNotEqualTo(Echo.class);
        assertThat(program.call()).isEqualTo("hello");
      } finally {
        current.setContextClassLoader(before);
      }
    }
  }

  private static URL[] classPath() throws MalformedURLException {
    List<URL> urls = new ArrayList<>();
    String all =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    for (String entry : all.split(File.pathSeparator, -1)) {
      if (!entry.contains("micrometer")) {
        urls.add(new File(entry).toURI().toURL());
      }
    }
    return urls.toArray(new URL[0]);
  }
}
