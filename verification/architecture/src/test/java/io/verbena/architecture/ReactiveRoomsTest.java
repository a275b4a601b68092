package io.verbena.architecture;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import org.junit.jupiter.api.Test;

/** The packages of the reactive transport make no circle. */
class ReactiveRoomsTest {

  @Test
  void packagesMakeNoCircle() {
    slices().matching("io.verbena.reactor.(*)..").should().beFreeOfCycles().check(House.CLASSES);
  }
}
