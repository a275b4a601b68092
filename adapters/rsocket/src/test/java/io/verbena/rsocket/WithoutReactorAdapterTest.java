// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.core.testing.ClassPath;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URLClassLoader;
import org.junit.jupiter.api.Test;

/** Tests a program that was compiled without the implementation of the reactive transport. */
class WithoutReactorAdapterTest {
  @Test
  void eachTransportSaysWhatIsMissing() throws Exception {
    try (URLClassLoader loader =
        new URLClassLoader(
            ClassPath.without(entry -> entry.contains("reactor-adapter")),
            ClassLoader.getPlatformClassLoader())) {
      Method create =
          loader.loadClass(RdmaClientTransport.class.getName()).getMethod("create", URI.class);
      Thread current = Thread.currentThread();
      ClassLoader before = current.getContextClassLoader();
      current.setContextClassLoader(loader);
      try {
        for (int i = 0; i < 2; i++) {
          assertThatThrownBy(() -> create.invoke(null, URI.create("emulated://nobody")))
              .hasCauseInstanceOf(IllegalStateException.class)
              .hasRootCauseMessage(
                  "no RdmaTransport on the class path; add io.verbena:verbena-reactor-adapter");
        }
      } finally {
        current.setContextClassLoader(before);
      }
    }
  }
}
