// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.modules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the published jars as named modules: their exports, and a program on the module path. */
class ModulePathTest {
  private static final int LIMIT_SECONDS = 60;

  private static final Path QUICKSTART =
      Path.of("quickstart", "src", "main", "java", "com", "example");

  private static final String PROGRAM =
      """
      package com.example;

      public class Main {
        public static void main(String[] args) {
          var transport = io.verbena.RdmaTransport.create();
          var server = EchoServer.bind(transport, java.net.URI.create("emulated://modules"));
          System.out.println("answer: " + EchoClient.ask(transport, server.address(), "hello"));
          System.out.println("in " + transport.getClass().getModule());
          transport.dispose();
        }
      }
      """;

  private static final String NETTY_PROGRAM =
      """
      package com.example;

      public class Main {
        public static void main(String[] args) {
          var hca = java.net.URI.create("emulated://modules");
          try (var sockets = io.verbena.netty.RdmaSockets.builder(hca).loops(1).orTcp().build()) {
            System.out.println("open: " + sockets);
          }
        }
      }
      """;

  @TempDir private Path folder = Path.of("");

  @BeforeEach
  void checkJars() {
    assumeTrue(
        jars().stream().anyMatch(jar -> jar.contains("verbena-transport-api")),
        "a build of folders with classes, not of jars: run mvn package");
  }

  private static List<String> jars() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> entry.endsWith(".jar"))
        .toList();
  }

  private static String modulePath() {
    return jars().stream()
        .filter(jar -> isOnModulePath(Path.of(jar)))
        .collect(Collectors.joining(File.pathSeparator));
  }

  /**
   * Returns whether a jar is an explicit module or has an automatic module name; other names may
   * change.
   */
  private static boolean isOnModulePath(Path jar) {
    return ModuleFinder.of(jar).findAll().stream()
        .map(ModuleReference::descriptor)
        .anyMatch(
            module ->
                !module.isAutomatic()
                    || Set.of("reactor.core", "org.reactivestreams").contains(module.name()));
  }

  @ParameterizedTest
  @CsvSource({
    "io.verbena, io.verbena io.verbena.meters io.verbena.verbs io.verbena.verbs.provider"
        + " io.verbena.verbs.stat",
    "io.verbena.core, io.verbena.core.micrometer",
    "io.verbena.disni, io.verbena.disni",
    "io.verbena.emulated, io.verbena.emulated io.verbena.emulated.sanitizer"
        + " io.verbena.emulated.sanitizer.junit",
    "io.verbena.grpc, io.verbena.grpc",
    "io.verbena.netty, io.verbena.netty",
    "io.verbena.reactor, io.verbena.reactor",
    "io.verbena.reactornetty, io.verbena.reactornetty",
    "io.verbena.rsocket, io.verbena.rsocket"
  })
  void exportsWhatUsersNeedAndNoMore(String module, String packages) {
    ModuleDescriptor descriptor =
        ModuleFinder.of(jars().stream().map(Path::of).toArray(Path[]::new))
            .find(module)
            .orElseThrow()
            .descriptor();

    assertThat(descriptor.isAutomatic()).isFalse();
    assertThat(
            descriptor.exports().stream()
                .filter(exported -> !exported.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .sorted())
        .containsExactly(packages.split(" "));
  }

  @Test
  void aProgramOnTheModulePathIsAnswered() throws Exception {
    try (Stream<Path> sources = Files.list(QUICKSTART)) {
      compile(
          "io.verbena",
          PROGRAM,
          sources.map(Path::toString).filter(name -> !name.endsWith("package-info.java")).toList());
    }

    assertThat(run(modulePath() + File.pathSeparator + classes()))
        .contains("answer: hello")
        .contains("in module io.verbena.reactor");
  }

  @Test
  void aProgramOnTheModulePathOpensSockets() throws Exception {
    compile("io.verbena.netty", NETTY_PROGRAM, List.of());

    assertThat(run(modulePath() + File.pathSeparator + classes()))
        .contains("open: RdmaSockets[emulated://modules, or TCP]");
  }

  private Path classes() {
    return folder.resolve("classes");
  }

  /** Compiles a module {@code com.example} of a main program and other sources. */
  private void compile(String required, String program, List<String> sources) throws IOException {
    Path module = folder.resolve("com.example");
    Files.createDirectories(module);
    Path info = module.resolve("module-info.java");
    Files.writeString(info, "module com.example { requires " + required + "; }");
    Path main = module.resolve("Main.java");
    Files.writeString(main, program);
    List<String> line =
        new ArrayList<>(List.of("--module-path", modulePath(), "-d", classes().toString()));
    line.addAll(List.of(info.toString(), main.toString()));
    line.addAll(sources);
    compile(line);
  }

  private static void compile(List<String> line) {
    StringWriter told = new StringWriter();
    int result =
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(new PrintWriter(told), new PrintWriter(told), line.toArray(String[]::new));
    assertThat(result).as(told.toString()).isZero();
  }

  private String run(String path) throws IOException, InterruptedException {
    Path output = folder.resolve("output");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--module-path",
                path,
                "--module",
                "com.example/com.example.Main")
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      String told = Files.readString(output);
      assertThat(ended).as(told).isTrue();
      assertThat(process.exitValue()).as(told).isZero();
      return told;
    } finally {
      process.destroyForcibly();
    }
  }
}
