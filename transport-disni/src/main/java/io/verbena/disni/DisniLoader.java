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
 * Defines DiSNI's classes a second time, so that they load the {@code libdisni.so} that Verbena
 * chooses. These classes call {@code System.loadLibrary}, which asks the class loader before it
 * searches {@code java.library.path}; that path cannot be changed while the JVM runs. DiSNI classes
 * that the program itself has loaded are not affected.
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
   * @param library the library; a file of its own, because the JVM loads no file for two class
   *     loaders
   */
  DisniLoader(Path library) {
    super("disni", DisniLoader.class.getClassLoader());
    this.library = library;
  }

  /**
   * Returns the class with DiSNI's native methods. It is not yet initialized, so its library is not
   * loaded.
   */
  Class<?> dispatcher() throws ClassNotFoundException {
    return loadClass(DISPATCHER);
  }

  /** Returns the functions that the library must define, one for each native method of DiSNI. */
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

  /**
   * Returns the JNI name of a native method. DiSNI's names need no other escapes than that of
   * {@code _}.
   */
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
