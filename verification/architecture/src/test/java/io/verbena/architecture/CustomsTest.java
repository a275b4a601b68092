// SPDX-License-Identifier: Apache-2.0
package io.verbena.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** Tests of coding rules that hold in every package. */
class CustomsTest {

  @Test
  void everyPackageIsNullMarked() {
    List<String> unmarked =
        House.CLASSES.stream()
            .map(JavaClass::getPackage)
            .filter(room -> !room.isAnnotatedWith(NullMarked.class))
            .map(JavaPackage::getName)
            .distinct()
            .toList();

    assertThat(unmarked).isEmpty();
  }

  @Test
  void nobodyReachesIntoTheJdk() {
    noClasses()
        .should()
        .dependOnClassesThat(
            // Public API of the modules jdk.jfr, jdk.management and jdk.attach.
            resideInAnyPackage("sun..", "jdk..", "com.sun..")
                .and(
                    resideOutsideOfPackages(
                        "jdk.jfr", "com.sun.management", "com.sun.tools.attach")))
        .check(House.CLASSES);
  }

  /** The common pool has a single thread on two processors, which a blocking task would occupy. */
  @Test
  void nobodyWaitsInTheCommonPool() {
    noClasses()
        .should()
        .callMethod(CompletableFuture.class, "supplyAsync", Supplier.class)
        .orShould()
        .callMethod(CompletableFuture.class, "runAsync", Runnable.class)
        .check(House.CLASSES);
  }

  @Test
  void whatIsInternalIsUsedByItsOwnModuleOnly() {
    classes().should(useNoInternalsOfOthers()).check(House.CLASSES);
  }

  private static ArchCondition<JavaClass> useNoInternalsOfOthers() {
    return new ArchCondition<>("use no internal package of another module") {
      @Override
      public void check(JavaClass user, ConditionEvents events) {
        user.getDirectDependenciesFromSelf().stream()
            .filter(dependency -> isInternalToOthers(dependency, user))
            .map(d -> SimpleConditionEvent.violated(user, d.getDescription()))
            .forEach(events::add);
      }
    };
  }

  private static boolean isInternalToOthers(Dependency dependency, JavaClass user) {
    String target = dependency.getTargetClass().getPackageName() + '.';
    int internal = target.indexOf(".internal.");
    return target.startsWith("io.verbena.")
        && internal >= 0
        && !(user.getPackageName() + '.').startsWith(target.substring(0, internal + 1));
  }
}
