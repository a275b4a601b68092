package io.verbena.reactor.simulation;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * A mistake in the reactive layer: a source file of this module in which one piece of text is
 * another one, compiled by itself and loaded beside the right one.
 *
 * @param mistake what is wrong
 * @param file below {@code io/verbena/reactor}
 * @param right what stands there, once
 * @param wrong what is put in its place
 */
record Mutation(String mistake, String file, String right, String wrong) {
  private static final String LAYER = "io.verbena.reactor.";
  private static final Path SOURCES = Path.of("src", "main", "java", "io", "verbena", "reactor");

  /**
   * Does runs until one fails.
   *
   * @return how many it took, or nothing if none of {@code most} failed
   */
  OptionalInt seedsUntilCaught(int most) throws IOException, ReflectiveOperationException {
    Path classes = Files.createTempDirectory("verbena-mutation");
    compileInto(classes);
    try (Mutated loader = new Mutated(classes)) {
      Method run = loader.loadClass(Run.class.getName()).getDeclaredMethod("of", long.class);
      run.setAccessible(true);
      for (int seed = 1; seed <= most; seed++) {
        if (!isRight(run, seed)) {
          return OptionalInt.of(seed);
        }
      }
      return OptionalInt.empty();
    }
  }

  private static boolean isRight(Method run, long seed) throws IllegalAccessException {
    try {
      run.invoke(null, seed);
      return true;
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof AssertionError) {
        return false;
      }
      throw new AssertionError("seed " + seed, e.getCause());
    }
  }

  private void compileInto(Path classes) throws IOException {
    String source = Files.readString(SOURCES.resolve(file));
    int at = source.indexOf(right);
    if (at < 0 || source.indexOf(right, at + 1) >= 0) {
      throw new AssertionError(file + " does not have it once: " + right);
    }
    Path changed = classes.resolve(file);
    Files.createDirectories(changed.getParent());
    Files.writeString(changed, source.replace(right, wrong));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter complaints = new StringWriter();
    List<String> options =
        List.of(
            "-nowarn",
            "-proc:none",
            "-d",
            classes.toString(),
            "-cp",
            System.getProperty("java.class.path"));
    boolean compiled =
        compiler
            .getTask(
                complaints,
                null,
                null,
                options,
                null,
                compiler.getStandardFileManager(null, null, null).getJavaFileObjects(changed))
            .call();
    if (!compiled) {
      throw new AssertionError(mistake + " does not compile: " + complaints);
    }
  }

  /** Loads the layer and its runs anew, with the changed classes before the right ones. */
  private static final class Mutated extends URLClassLoader {
    Mutated(Path classes) throws IOException {
      super(urls(classes), Mutation.class.getClassLoader());
    }

    private static URL[] urls(Path classes) throws IOException {
      String[] path = System.getProperty("java.class.path").split(File.pathSeparator, -1);
      URL[] urls = new URL[path.length + 1];
      urls[0] = classes.toUri().toURL();
      for (int i = 0; i < path.length; i++) {
        urls[i + 1] = Path.of(path[i]).toUri().toURL();
      }
      return urls;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(LAYER)) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded == null ? findClass(name) : loaded;
      }
    }
  }
}
