// SPDX-License-Identifier: Apache-2.0
package io.verbena.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.verbena.architecture.FloorsTest.Module;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Tests that the packages of a module have no cycle and belong to that module alone. */
class PackagesTest {
  @ParameterizedTest
  @FieldSource("io.verbena.architecture.FloorsTest#HOUSE")
  void thePackagesOfAModuleMakeNoCircle(Module module) {
    JavaClasses classes =
        House.CLASSES.that(resideInAnyPackage(module.packages().toArray(String[]::new)));

    assertThat(classes).as(module.folder()).isNotEmpty();
    slices()
        .assignedFrom(new ByPackage())
        .should()
        .beFreeOfCycles()
        .allowEmptyShould(true)
        .check(classes);
  }

  @Test
  void aPackageBelongsToOneModule() {
    Map<String, Set<String>> places =
        House.CLASSES.stream()
            .collect(groupingBy(JavaClass::getPackageName, mapping(PackagesTest::place, toSet())));

    assertThat(places).isNotEmpty().allSatisfy((name, those) -> assertThat(those).hasSize(1));
  }

  /** Returns the folder or jar that a class was read from. */
  private static String place(JavaClass type) {
    String file = type.getName().replace('.', '/') + ".class";
    String uri = type.getSource().orElseThrow().getUri().toString();
    assertThat(uri).endsWith(file);
    return uri.substring(0, uri.length() - file.length());
  }

  /** Makes each package a slice. */
  private static final class ByPackage implements SliceAssignment {
    @Override
    public SliceIdentifier getIdentifierOf(JavaClass type) {
      return SliceIdentifier.of(type.getPackageName());
    }

    @Override
    public String getDescription() {
      return "packages";
    }
  }
}
