// SPDX-License-Identifier: Apache-2.0
package io.verbena.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import io.netty.channel.Channel;
import java.io.File;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests {@code reachability-metadata.json} of the jars, for GraalVM's {@code native-image}: all
 * named classes and members exist, and all lookups by name are covered. The condition of an entry
 * is the class that does the lookup, unless code of other projects does it.
 */
class NativeImageTest {
  private static final String METADATA = "reachability-metadata.json";
  private static final String SERVICES = "META-INF/services/";
  private static final String NATIVE_LIBRARIES = "io/verbena/disni/native/";
  private static final String CONSTRUCTOR = "<init>";
  private static final int FOREIGN_SINCE = 22;

  /**
   * Methods that look up by name and that native-image's analysis does not follow. It does evaluate
   * field updaters and {@code findVarHandle}, because their arguments are constants.
   */
  private static final Map<String, Pattern> LOOKUPS =
      Map.of(
          "java.lang.Class",
              Pattern.compile("forName|getResource.*|get(Declared)?(Method|Field|Constructor)s?"),
          "java.lang.ClassLoader", Pattern.compile("loadClass|defineClass|getResource.*"),
          "java.lang.invoke.MethodHandles$Lookup",
              Pattern.compile("find(Class|Constructor|Special|Static|Virtual)|unreflect.*"),
          "java.lang.reflect.Proxy", Pattern.compile("newProxyInstance"),
          "java.util.ServiceLoader", Pattern.compile("load.*"),
          "javax.management.MBeanServer", Pattern.compile("registerMBean"));

  /** The folders that contain the classes or jars of published modules. */
  private static final List<String> TARGETS =
      Published.MODULES.values().stream()
          .map(module -> module.toAbsolutePath().normalize() + "/target/")
          .toList();

  private static final Pattern FIND_CLASS = Pattern.compile("FindClass\\(\\s*env,\\s*\"([^\"]+)\"");
  private static final Pattern FIND_MEMBER =
      Pattern.compile("Get(?:Static)?(?:Method|Field)ID\\(\\s*env,[^,]+,\\s*\"([^\"]+)\"");

  @Test
  void metadataIsWhereNativeImageLooks() {
    Published.MODULES.forEach(
        (artifact, module) ->
            assertThat(Published.files(resources(module), 9, METADATA))
                .allSatisfy(
                    file ->
                        assertThat(resources(module).relativize(file))
                            .isEqualTo(
                                Path.of("META-INF/native-image/io.verbena", artifact, METADATA))));
  }

  @ParameterizedTest
  @MethodSource("reflection")
  void typesAndMembersExist(JsonObject entry) {
    for (String name : types(entry)) {
      assumeTrue(
          Runtime.version().feature() >= FOREIGN_SINCE
              || !entry.toString().contains("\"java.lang.foreign."),
          "SKIPPED: " + name + " needs JDK " + FOREIGN_SINCE);
      assertThatCode(() -> type(name)).as(name).doesNotThrowAnyException();
      for (JsonObject method : objects(entry, "methods")) {
        assertThatCode(() -> member(type(name), method)).doesNotThrowAnyException();
      }
      for (JsonObject field : objects(entry, "fields")) {
        assertThatCode(() -> type(name).getDeclaredField(field.get("name").getAsString()))
            .doesNotThrowAnyException();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("entries")
  void conditionsAreClassesThatLookUp(JsonObject entry) {
    if (entry.has("condition")) {
      assertThat(lookingUp()).contains(condition(entry));
    }
  }

  @Test
  void resourcesExist() throws IOException {
    Set<String> names = namesOnTheClassPath();
    boolean built = names.stream().anyMatch(name -> name.startsWith(NATIVE_LIBRARIES));

    assertThat(resources().map(entry -> entry.get("glob").getAsString()))
        .filteredOn(glob -> built || !glob.startsWith(NATIVE_LIBRARIES))
        .allSatisfy(
            glob -> {
              PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + glob);
              assertThat(names.stream().map(Path::of)).as(glob).anyMatch(matcher::matches);
            });
  }

  @Test
  void everyLookupByNameIsCovered() {
    assertThat(entries().filter(e -> e.has("condition")).map(NativeImageTest::condition))
        .containsAll(lookingUp());
  }

  @Test
  void everyServiceIsCovered() {
    for (Path module : Published.MODULES.values()) {
      for (Path file : Published.files(resources(module).resolve(SERVICES), 1, "")) {
        assertThat(resources().map(entry -> entry.get("glob").getAsString()))
            .contains(SERVICES + file.getFileName());
        assertThat(Published.read(file).lines())
            .allSatisfy(provider -> assertThat(members(provider)).contains(CONSTRUCTOR));
      }
    }
  }

  @Test
  void everyChannelCanBeMadeByItsClass() {
    assertThat(House.CLASSES)
        .filteredOn(type -> type.isAssignableTo(Channel.class))
        .filteredOn(NativeImageTest::isPublished)
        .filteredOn(type -> !type.getModifiers().contains(JavaModifier.ABSTRACT))
        // Code of the same package creates the others, without reflection.
        .filteredOn(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
        .isNotEmpty()
        .allSatisfy(type -> assertThat(members(type.getName())).contains(CONSTRUCTOR));
  }

  @Test
  void everyLookupOfNativeCodeIsCovered() {
    Collection<JsonObject> accessible =
        reflection().filter(entry -> entry.has("jniAccessible")).toList();
    Set<String> types =
        accessible.stream().flatMap(e -> types(e).stream()).collect(Collectors.toSet());
    Set<String> members =
        accessible.stream()
            .flatMap(e -> Stream.of("methods", "fields").flatMap(kind -> names(e, kind)))
            .collect(Collectors.toSet());
    for (Path module : Published.MODULES.values()) {
      for (Path source : Published.files(module.resolve("src/main/native"), 9, ".c")) {
        String code = Published.read(source);
        assertThat(Published.matches(FIND_CLASS, code))
            .as("%s", source)
            .allSatisfy(type -> assertThat(types).contains(type.replace('/', '.')));
        assertThat(Published.matches(FIND_MEMBER, code)).as("%s", source).isSubsetOf(members);
      }
    }
    // JNI's ThrowNew calls the constructor.
    assertThat(accessible)
        .filteredOn(e -> types(e).stream().allMatch(t -> t.endsWith("Exception")))
        .allSatisfy(e -> assertThat(names(e, "methods")).contains(CONSTRUCTOR));
  }

  static Stream<JsonObject> reflection() {
    return section("reflection");
  }

  static Stream<JsonObject> resources() {
    return section("resources");
  }

  static Stream<JsonObject> entries() {
    return Stream.concat(reflection(), resources());
  }

  private static Stream<JsonObject> section(String name) {
    return Published.MODULES.values().stream()
        .flatMap(module -> Published.files(resources(module), 9, METADATA).stream())
        .map(file -> JsonParser.parseString(Published.read(file)).getAsJsonObject())
        .flatMap(metadata -> objects(metadata, name).stream());
  }

  private static Path resources(Path module) {
    return module.resolve("src/main/resources");
  }

  private static List<JsonObject> objects(JsonObject in, String name) {
    return in.has(name)
        ? StreamSupport.stream(in.getAsJsonArray(name).spliterator(), false)
            .map(JsonElement::getAsJsonObject)
            .toList()
        : List.of();
  }

  private static Stream<String> names(JsonObject entry, String kind) {
    return objects(entry, kind).stream().map(member -> member.get("name").getAsString());
  }

  private static String condition(JsonObject entry) {
    return entry.getAsJsonObject("condition").get("typeReached").getAsString();
  }

  /** Returns the one type of an entry, or the interfaces of a proxy. */
  private static List<String> types(JsonObject entry) {
    JsonElement type = entry.get("type");
    return type.isJsonObject()
        ? StreamSupport.stream(type.getAsJsonObject().getAsJsonArray("proxy").spliterator(), false)
            .map(JsonElement::getAsString)
            .toList()
        : List.of(type.getAsString());
  }

  /** Returns the names of the methods that the metadata has for a type. */
  private static List<String> members(String type) {
    return reflection()
        .filter(entry -> types(entry).contains(type))
        .flatMap(entry -> names(entry, "methods"))
        .toList();
  }

  private static Class<?> type(String name) throws ClassNotFoundException {
    return Class.forName(name, false, NativeImageTest.class.getClassLoader());
  }

  private static Object member(Class<?> type, JsonObject method)
      throws ReflectiveOperationException {
    Class<?>[] parameters =
        StreamSupport.stream(method.getAsJsonArray("parameterTypes").spliterator(), false)
            .map(JsonElement::getAsString)
            .map(NativeImageTest::parameter)
            .toArray(Class<?>[]::new);
    String name = method.get("name").getAsString();
    return name.equals(CONSTRUCTOR)
        ? type.getDeclaredConstructor(parameters)
        : type.getDeclaredMethod(name, parameters);
  }

  private static Class<?> parameter(String name) {
    try {
      return name.equals("long") ? long.class : type(name);
    } catch (ClassNotFoundException e) {
      throw new IllegalArgumentException(name, e);
    }
  }

  /** Returns the names of the published classes that call one of {@link #LOOKUPS}. */
  private static Set<String> lookingUp() {
    return House.CLASSES.stream()
        .filter(NativeImageTest::isPublished)
        .filter(type -> type.getMethodCallsFromSelf().stream().anyMatch(NativeImageTest::isLookup))
        .map(JavaClass::getName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static boolean isLookup(JavaMethodCall call) {
    Pattern names = LOOKUPS.get(call.getTargetOwner().getName());
    return names != null && names.matcher(call.getName()).matches();
  }

  private static boolean isPublished(JavaClass type) {
    String source = type.getSource().orElseThrow().getUri().getSchemeSpecificPart();
    return TARGETS.stream().anyMatch(source::contains);
  }

  private static Set<String> namesOnTheClassPath() throws IOException {
    Set<String> names = new TreeSet<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      Path path = Path.of(entry);
      if (Files.isDirectory(path)) {
        Published.files(path, 99, "").forEach(file -> names.add(path.relativize(file).toString()));
      } else if (Files.exists(path)) {
        try (JarFile jar = new JarFile(path.toFile())) {
          jar.stream().forEach(each -> names.add(each.getName()));
        }
      }
    }
    return names;
  }
}
