// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers;

import com.github.dockerjava.api.command.BuildImageResultCallback;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.images.RemoteDockerImage;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.LazyFuture;
import org.testcontainers.utility.ResourceReaper;

/**
 * An image with a Java runtime and this JVM's class path; its entry point takes options of the JVM,
 * a main class and arguments. Built when it is first needed, once per JVM and base, and removed
 * when the JVM ends.
 *
 * <p>The runtime is that of a base image, which may be pulled and has {@code java} on its path; or,
 * where no base is named, this JVM's own files with the shared libraries that they need, which
 * takes no registry, but Linux. Threads: any.
 */
final class VerbenaImage {
  private static final String FOLDER = "/verbena";
  private static final int BUILD_LIMIT_SECONDS = 120;
  private static final Map<String, String> BUILT = new ConcurrentHashMap<>();

  private VerbenaImage() {}

  /**
   * An image, not built yet.
   *
   * @param base the name of an image; null for this JVM's own files
   */
  static RemoteDockerImage on(@Nullable String base) {
    var built =
        new LazyFuture<String>() {
          @Override
          protected String resolve() {
            return BUILT.computeIfAbsent(base == null ? "" : base, VerbenaImage::build);
          }
        };
    return new RemoteDockerImage(built).withImagePullPolicy(name -> false);
  }

  private static String build(String base) {
    String name = "verbena-test:" + UUID.randomUUID();
    try (Archive context = Archive.create()) {
      var dockerfile = new ArrayList<String>();
      if (base.isEmpty()) {
        JavaRuntime.ofThisJvm().addTo(context, "runtime/");
        dockerfile.addAll(List.of("FROM scratch", "COPY runtime /"));
      } else {
        dockerfile.add("FROM " + new RemoteDockerImage(DockerImageName.parse(base)).get());
      }
      addClassPath(context);
      dockerfile.add("COPY verbena " + FOLDER);
      dockerfile.add("ENTRYPOINT [\"java\", \"@" + FOLDER + "/arguments\"]");
      context.add("Dockerfile", String.join("\n", dockerfile) + "\n");
      build(name, context);
    } catch (IOException e) {
      throw new UncheckedIOException("image: " + e.getMessage(), e);
    }
    return name;
  }

  private static void build(String name, Archive context) throws IOException {
    try (InputStream in = context.content()) {
      DockerClientFactory.lazyClient()
          .buildImageCmd(in)
          .withTags(Set.of(name))
          .exec(new BuildImageResultCallback())
          .awaitImageId(BUILD_LIMIT_SECONDS, TimeUnit.SECONDS);
    }
    removeAtTheEnd(name);
  }

  /** There is no other way to have that done after the containers are gone. */
  @SuppressWarnings("deprecation")
  private static void removeAtTheEnd(String name) {
    ResourceReaper.instance().registerImageForCleanup(name);
  }

  /** The class path, and a file with an option for it, which the JVM reads. */
  private static void addClassPath(Archive context) throws IOException {
    Map<Path, String> places = classPath();
    for (Map.Entry<Path, String> each : places.entrySet()) {
      context.add(each.getValue().substring(1), each.getKey(), path -> true);
    }
    context.add("verbena/arguments", "-cp \"" + String.join(":", places.values()) + "\"\n");
  }

  /**
   * Returns the entries of this JVM's class path, in its order, and where they are in a container.
   * Surefire's own class path is a jar that names the rest; a system property has the real one.
   */
  static Map<Path, String> classPath() {
    String all =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path", ""));
    var entries = new LinkedHashMap<Path, String>();
    for (String each : all.split(File.pathSeparator, -1)) {
      Path entry = Path.of(each);
      if (!each.isEmpty() && Files.exists(entry)) {
        entries.put(entry, FOLDER + "/classes/" + entries.size() + '-' + entry.getFileName());
      }
    }
    return entries;
  }
}
