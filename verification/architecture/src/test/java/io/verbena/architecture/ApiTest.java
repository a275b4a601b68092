// SPDX-License-Identifier: Apache-2.0
package io.verbena.architecture;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import java.io.IOException;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that the published API equals the recorded one. The record of a module is a file with a
 * line for each public or protected type and member in the packages that its module descriptor
 * exports to all, or in all packages if the module has no descriptor.
 */
@Tag("once")
class ApiTest {
  private static final Path RECORDED = Published.ROOT.resolve("docs/generated/api");

  /** The current API of the modules; {@code bin/release --record-api} copies it. */
  private static final Path FOUND = Path.of("target/api");

  private static final Pattern EXPORTED = Pattern.compile("(?m)^ *exports ([a-z.]+);");
  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([a-z.]+);");
  private static final int MODIFIERS =
      Modifier.PUBLIC | Modifier.PROTECTED | Modifier.ABSTRACT | Modifier.FINAL | Modifier.STATIC;

  @BeforeAll
  static void makeFolder() throws IOException {
    Files.createDirectories(FOUND);
  }

  @ParameterizedTest
  @MethodSource("artifacts")
  void apiIsTheRecordedOne(String artifact) throws IOException {
    Path recorded = RECORDED.resolve(artifact + ".txt");
    Set<String> found = api(artifact);
    Files.write(FOUND.resolve(recorded.getFileName()), found);
    Set<String> expected = new TreeSet<>();
    if (Files.exists(recorded)) {
      expected.addAll(Files.readAllLines(recorded));
    }

    assertThat(without(expected, found))
        .as(
            "%s lacks what %s records, and programs that use it break. Keep it, deprecated; or,"
                + " where the break is meant, tell of it in CHANGELOG.md and run"
                + " bin/release --record-api",
            artifact, recorded)
        .isEmpty();
    assertThat(without(found, expected))
        .as("%s has API that is new: run bin/release --record-api", artifact)
        .isEmpty();
  }

  @Test
  void methodsOfAHiddenSuperclassAreApi() {
    assertThat(api("verbena-rsocket-adapter"))
        .anyMatch(
            line -> line.startsWith("io.verbena.rsocket.RdmaClientTransport.sendQueueLimit("));
  }

  static Set<String> artifacts() {
    return Published.MODULES.keySet();
  }

  private static List<String> packages(Path module) {
    Path descriptor = module.resolve("src/main/module/module-info.java");
    if (Files.exists(descriptor)) {
      return Published.matches(EXPORTED, Published.read(descriptor));
    }
    return Published.files(module.resolve("src/main/java"), Integer.MAX_VALUE, "package-info.java")
        .stream()
        .flatMap(file -> Published.matches(PACKAGE, Published.read(file)).stream())
        .toList();
  }

  private static Set<String> without(Set<String> lines, Set<String> others) {
    Set<String> rest = new TreeSet<>(lines);
    rest.removeAll(others);
    return rest;
  }

  private static Set<String> api(String artifact) {
    List<String> packages = packages(Published.MODULES.getOrDefault(artifact, Path.of("")));
    assertThat(packages).as("packages of the API of %s", artifact).isNotEmpty();
    Set<String> lines = new TreeSet<>();
    House.CLASSES.stream()
        .filter(type -> packages.contains(type.getPackageName()))
        .map(JavaClass::reflect)
        .filter(ApiTest::isVisible)
        .forEach(type -> describe(type, lines));
    return Collections.unmodifiableSet(lines);
  }

  private static boolean isVisible(Class<?> type) {
    Class<?> outer = type.getEnclosingClass();
    return isVisible(type.getModifiers()) && (outer == null || isVisible(outer));
  }

  private static boolean isVisible(int modifiers) {
    return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
  }

  private static void describe(Class<?> type, Set<String> lines) {
    String name = type.getName();
    lines.add(
        "%s: %s %s%s"
            .formatted(name, modifiers(type.getModifiers()), kind(type), supertypes(type)));
    Stream.concat(Arrays.stream(type.getDeclaredConstructors()), methods(type).stream())
        .filter(member -> isVisible(member.getModifiers()))
        .forEach(member -> lines.add(name + "." + describe(member)));
    Arrays.stream(type.getDeclaredFields())
        .filter(field -> isVisible(field.getModifiers()) && !field.isSynthetic())
        .forEach(field -> lines.add(name + "." + describe(field)));
  }

  /** Returns the methods of a type and of those superclasses of ours that are not visible. */
  private static Collection<Method> methods(Class<?> type) {
    Map<String, Method> bySignature = new LinkedHashMap<>();
    Class<?> owner = type;
    do {
      Arrays.stream(owner.getDeclaredMethods())
          .filter(method -> !method.isSynthetic())
          .forEach(
              method ->
                  bySignature.putIfAbsent(
                      method.getName() + Arrays.toString(method.getParameterTypes()), method));
      owner = owner.getSuperclass();
    } while (owner != null && owner.getName().startsWith("io.verbena") && !isVisible(owner));
    return bySignature.values();
  }

  private static String describe(Executable member) {
    String name = member instanceof Method ? member.getName() : "<init>";
    String result =
        member instanceof Method method ? ": " + method.getGenericReturnType().getTypeName() : "";
    String throwing =
        member.getGenericExceptionTypes().length == 0
            ? ""
            : " throws " + names(member.getGenericExceptionTypes());
    return "%s(%s)%s, %s%s"
        .formatted(
            name,
            names(member.getGenericParameterTypes()),
            result,
            modifiers(member.getModifiers()),
            throwing);
  }

  private static String describe(Field field) {
    return "%s: %s, %s"
        .formatted(
            field.getName(), field.getGenericType().getTypeName(), modifiers(field.getModifiers()));
  }

  private static String kind(Class<?> type) {
    String kind =
        type.isAnnotation()
            ? "annotation"
            : type.isInterface()
                ? "interface"
                : type.isEnum() ? "enum" : type.isRecord() ? "record" : "class";
    return type.isSealed() ? "sealed " + kind : kind;
  }

  private static String supertypes(Class<?> type) {
    Type parent = type.getGenericSuperclass();
    Type[] all =
        Stream.concat(Stream.ofNullable(parent), Arrays.stream(type.getGenericInterfaces()))
            .filter(supertype -> supertype != Object.class)
            .toArray(Type[]::new);
    return all.length == 0 ? "" : " of " + names(all);
  }

  private static String names(Type[] types) {
    return Arrays.stream(types).map(Type::getTypeName).collect(joining(", "));
  }

  private static String modifiers(int modifiers) {
    return Modifier.toString(modifiers & MODIFIERS);
  }
}
