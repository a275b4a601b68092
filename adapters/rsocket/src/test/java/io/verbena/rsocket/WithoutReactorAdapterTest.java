// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A program compiles without the implementation of the reactive transport. */
class WithoutReactorAdapterTest {
  @Test
  void eachTransportSaysWhatIsMissing() throws Exception {
    try (URLClassLoader loader =
        new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
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

  private static URL[] classPath() throws MalformedURLException {
    List<URL> urls = new ArrayList<>();
    String all =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    for (String entry : all.split(File.pathSeparator, -1)) {
      if (!entry.contains("reactor-adapter")) {
        urls.add(new File(entry).toURI().toURL());
      }
    }
    return urls.toArray(new URL[0]);
  }
}
