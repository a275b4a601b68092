// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.mutation;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * Loads the simulation and the classes that it simulates a second time, with one mistake in them.
 */
final class Mutant extends ClassLoader {
  private static final List<String> OWN =
      List.of(
          "io.verbena.emulated.",
          "io.verbena.core.",
          "io.verbena.reactor.",
          "io.verbena.simulation.");

  private final Map<String, ByteArrayOutputStream> changed;

  private Mutant(Map<String, ByteArrayOutputStream> changed) {
    super(Mutant.class.getClassLoader());
    this.changed = changed;
  }

  /** Loads all these classes with the mistake. */
  static Mutant of(Mistake mistake) {
    return new Mutant(compile(mistake));
  }

  /** Creates a search for a seed that detects the mistake. */
  LongBinaryOperator search(String program) throws ReflectiveOperationException {
    return (LongBinaryOperator) create("io.verbena.simulation.SeedSearch", program);
  }

  /** Creates a function that shrinks the scenario of a seed and returns its number of steps. */
  LongUnaryOperator shrink(String program) throws ReflectiveOperationException {
    return (LongUnaryOperator) create("io.verbena.simulation.SeedShrink", program);
  }

  private Object create(String name, String program) throws ReflectiveOperationException {
    return loadClass(name).getConstructor(String.class).newInstance(program);
  }

  private static Map<String, ByteArrayOutputStream> compile(Mistake mistake) {
    String source;
    try {
      source = mistake.in(Files.readString(Path.of("..", "..", mistake.file())));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter messages = new StringWriter();
    Map<String, ByteArrayOutputStream> classes = new HashMap<>();
    try (JavaFileManager files =
        new InMemory(compiler.getStandardFileManager(null, null, null), classes)) {
      List<String> options =
          List.of("-proc:none", "-nowarn", "-classpath", System.getProperty("java.class.path"));
      JavaFileObject unit = new Source(mistake.file(), source);
      if (!compiler.getTask(messages, files, null, options, null, List.of(unit)).call()) {
        throw new IllegalStateException(mistake + " does not compile: " + messages);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return classes;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (OWN.stream().noneMatch(name::startsWith)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      if (loaded == null) {
        byte[] bytes = bytes(name);
        loaded = defineClass(name, bytes, 0, bytes.length);
      }
      return loaded;
    }
  }

  private byte[] bytes(String name) throws ClassNotFoundException {
    ByteArrayOutputStream mine = changed.get(name);
    if (mine != null) {
      return mine.toByteArray();
    }
    try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String file, String text) {
      super(URI.create("string:///" + file), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private static final class InMemory extends ForwardingJavaFileManager<JavaFileManager> {
    private final Map<String, ByteArrayOutputStream> classes;

    InMemory(JavaFileManager files, Map<String, ByteArrayOutputStream> classes) {
      super(files);
      this.classes = classes;
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      classes.put(className, bytes);
      return new SimpleJavaFileObject(URI.create("memory:///" + className), kind) {
        @Override
        public OutputStream openOutputStream() {
          return bytes;
        }
      };
    }
  }
}
