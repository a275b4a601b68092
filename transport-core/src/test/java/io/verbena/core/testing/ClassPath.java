// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.testing;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Parts of the tests' class path, for class loaders that lack some entries. */
public final class ClassPath {
  private ClassPath() {}

  /** Returns the entries, folders and jars, except those that {@code leftOut} accepts. */
  public static URL[] without(Predicate<String> leftOut) throws MalformedURLException {
    List<URL> urls = new ArrayList<>();
    String all =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    for (String entry : all.split(File.pathSeparator, -1)) {
      if (!leftOut.test(entry)) {
        urls.add(new File(entry).toURI().toURL());
      }
    }
    return urls.toArray(new URL[0]);
  }
}
