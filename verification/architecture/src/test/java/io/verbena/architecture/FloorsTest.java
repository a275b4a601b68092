// SPDX-License-Identifier: Apache-2.0
package io.verbena.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Tests that a module imports only from modules on lower floors. */
class FloorsTest {
  /** The package that needs the module java.management, which a JVM may lack. */
  private static final String STAT = "io.verbena.core.stat";

  /** The packages that may use the API for implementers of providers. */
  private static final String[] IMPLEMENTERS = {
    "io.verbena.verbs.provider..",
    "io.verbena.emulated..",
    "io.verbena.disni..",
    "io.verbena.foreign..",
    "io.verbena.core..",
    "io.verbena.tck.."
  };

  static final List<Module> HOUSE =
      List.of(
          new Module(
              "transport-api",
              0,
              List.of("io.verbena", "io.verbena.meters..", "io.verbena.verbs..")),
          new Module("verification/tck", 1, List.of("io.verbena.tck..")),
          new Module("transport-emulated", 1, List.of("io.verbena.emulated..")),
          new Module("transport-disni", 1, List.of("io.verbena.disni..")),
          new Module("transport-verbs", 2, List.of("io.verbena.foreign..")),
          new Module("transport-core", 2, List.of("io.verbena.core..")),
          new Module("tools", 2, List.of("io.verbena.tools..")),
          new Module("verification/stress", 2, List.of("io.verbena.stress..")),
          new Module("reactor-adapter", 3, List.of("io.verbena.reactor..")),
          new Module("adapters/netty", 3, List.of("io.verbena.netty..")),
          new Module("adapters/rsocket", 3, List.of("io.verbena.rsocket..")),
          new Module("adapters/grpc", 4, List.of("io.verbena.grpc..")),
          new Module("adapters/reactor-netty", 4, List.of("io.verbena.reactornetty..")),
          new Module("adapters/ratis", 4, List.of("io.verbena.ratis..")),
          new Module("adapters/vertx", 4, List.of("io.verbena.vertx..")),
          new Module("verification/architecture", 4, List.of("io.verbena.architecture..")),
          new Module("verification/fuzz", 4, List.of("io.verbena.fuzz..")),
          new Module("verification/simulation", 4, List.of("io.verbena.simulation..")),
          new Module("adapters/spring-boot", 5, List.of("io.verbena.springboot..")),
          new Module("samples", 5, List.of("io.verbena.samples..")),
          new Module("benchmarks", 5, List.of("io.verbena.benchmarks..")),
          new Module("it", 5, List.of("io.verbena.it..")));

  private static final Pattern MODULE = Pattern.compile("<module>(.*)</module>");

  @Test
  void everyModuleWithCodeHasAFloor() throws IOException {
    List<String> folders =
        MODULE
            .matcher(Files.readString(Path.of("../../pom.xml")))
            .results()
            .map(module -> module.group(1))
            .filter(folder -> !folder.equals("bom"))
            .toList();

    assertThat(HOUSE).extracting(Module::folder).containsExactlyInAnyOrderElementsOf(folders);
  }

  @ParameterizedTest
  @FieldSource("HOUSE")
  void aModuleImportsOnlyFromFloorsBelow(Module module) {
    check(
        noClasses()
            .that()
            .resideInAnyPackage(packages(other -> other.equals(module)))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                packages(other -> !other.equals(module) && other.floor >= module.floor)));
  }

  @Test
  void everyClassLivesInAModule() {
    check(classes().should().resideInAnyPackage(packages(module -> true)));
  }

  @Test
  void theVerbsStandOnTheJdkAlone() {
    check(
        classes()
            .that()
            .resideInAPackage("io.verbena.verbs..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("io.verbena.verbs..", "java..", "org.jspecify.."));
  }

  @Test
  void onlyImplementersUseWhatIsSetApartForProviders() {
    check(
        noClasses()
            .that()
            .resideOutsideOfPackages(IMPLEMENTERS)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.verbena.verbs.provider.."));
  }

  @Test
  void onlyTheBeanOfQueuePairsNeedsMoreOfTheJdkThanItsBase() {
    check(
        noClasses()
            .that()
            .resideInAnyPackage("io.verbena.verbs..", "io.verbena.core..")
            .and()
            .resideOutsideOfPackage(STAT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.lang.management", "javax.."));
    check(
        classes()
            .that()
            .resideInAPackage(STAT)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                STAT, "io.verbena.verbs..", "java..", "javax.management", "org.jspecify.."));
  }

  @Test
  void aProviderKnowsNothingOfReactor() {
    check(
        noClasses()
            .that()
            .resideInAnyPackage(
                "io.verbena.emulated..",
                "io.verbena.disni..",
                "io.verbena.foreign..",
                "io.verbena.tck..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("reactor..", "org.reactivestreams.."));
  }

  @Test
  void whatTransportsShareKnowsNothingOfReactor() {
    check(
        noClasses()
            .that()
            .resideInAPackage("io.verbena.core..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("reactor..", "org.reactivestreams.."));
  }

  @Test
  void onlyItsBinderKnowsMicrometer() {
    check(
        noClasses()
            .that()
            .resideOutsideOfPackages("io.verbena.core.micrometer..", "io.verbena.springboot..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.micrometer..", "io.verbena.core.micrometer.."));
  }

  @Test
  void theTransportKnowsNoProvider() {
    check(
        noClasses()
            .that()
            .resideInAnyPackage("io.verbena.core..", "io.verbena.reactor..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                "io.verbena.emulated..",
                "io.verbena.disni..",
                "io.verbena.foreign..",
                "io.verbena.tck.."));
  }

  @Test
  void theRSocketAdapterIsWrittenAgainstTheReactiveTransportAlone() {
    check(
        noClasses()
            .that()
            .resideInAPackage("io.verbena.rsocket..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                "io.verbena.emulated..",
                "io.verbena.disni..",
                "io.verbena.foreign..",
                "io.verbena.reactor..",
                "io.verbena.tck..",
                "io.verbena.verbs.."));
  }

  @Test
  void theSamplesAreWrittenAgainstTheApiAlone() {
    check(
        noClasses()
            .that()
            .resideInAPackage("io.verbena.samples..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                "io.verbena.emulated..",
                "io.verbena.disni..",
                "io.verbena.foreign..",
                "io.verbena.reactor.."));
  }

  private static String[] packages(Predicate<Module> which) {
    return HOUSE.stream()
        .filter(which)
        .flatMap(module -> module.packages.stream())
        .toArray(String[]::new);
  }

  private static void check(ArchRule rule) {
    assertThat(House.CLASSES).isNotEmpty();
    rule.check(House.CLASSES);
  }

  record Module(String folder, int floor, List<String> packages) {
    @Override
    public String toString() {
      return folder;
    }
  }
}
