// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.meters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.core.testing.ClassPath;
import java.net.URLClassLoader;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** Tests a program without Micrometer, which is an optional dependency. */
class WithoutMicrometerTest {
  @Test
  void aProgramWithoutItWorks() throws Exception {
    try (URLClassLoader loader =
        new URLClassLoader(
            ClassPath.without(entry -> entry.contains("micrometer")),
            ClassLoader.getPlatformClassLoader())) {
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
}
