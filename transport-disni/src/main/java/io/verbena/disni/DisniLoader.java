// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;

/**
 * Defines DiSNI's classes once more, so that they find the {@code libdisni.so} that we choose: they
 * ask for it by {@code System.loadLibrary}, which looks at {@code java.library.path}, that cannot
 * be changed while the JVM runs, but before that asks the class loader. What else of DiSNI's is in
 * the program is not touched.
 */
final class DisniLoader extends ClassLoader {
  private static final String PACKAGE = "com.ibm.disni.";
  private static final String DISPATCHER = PACKAGE + "verbs.impl.NativeDispatcher";
  private static final List<String> NATIVE_CLASSES =
      List.of(DISPATCHER, PACKAGE + "util.NativeAffinity");

  static {
    registerAsParallelCapable();
  }

  private final Path library;

  /**
   * @param library a file of its own: the JVM loads none for two class loaders
   */
  DisniLoader(Path library) {
    super("disni", DisniLoader.class.getClassLoader());
    this.library = library;
  }

  /** The class with DiSNI's native methods; not yet initialised, so without its library. */
  Class<?> dispatcher() throws ClassNotFoundException {
    return loadClass(DISPATCHER);
  }

  /** The functions that the library must have: one for each native method of DiSNI's. */
  Collection<String> functions() throws ClassNotFoundException {
    Collection<String> functions = new TreeSet<>();
    for (String name : NATIVE_CLASSES) {
      Arrays.stream(loadClass(name).getDeclaredMethods())
          .filter(method -> Modifier.isNative(method.getModifiers()))
          .map(DisniLoader::function)
          .forEach(functions::add);
    }
    return functions;
  }

  /** Its name for JNI; those of DiSNI have no letters that need more than this. */
  private static String function(Method method) {
    String type = method.getDeclaringClass().getName().replace('.', '_');
    return "Java_" + type + "_" + method.getName().replace("_", "_1");
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(PACKAGE)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> type = findLoadedClass(name);
      return type == null ? findClass(name) : type;
    }
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    try (InputStream code = getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (code == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] bytes = code.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  @Override
  protected String findLibrary(String name) {
    return name.equals("disni") ? library.toString() : null;
  }
}
