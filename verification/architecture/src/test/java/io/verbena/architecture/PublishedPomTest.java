// SPDX-License-Identifier: Apache-2.0
package io.verbena.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the published POMs have all elements that Maven Central requires. */
class PublishedPomTest {

  @ParameterizedTest
  @ValueSource(strings = {"pom.xml", "bom/pom.xml"})
  void pomsWithoutAParentAreComplete(String pom) {
    assertThat(Published.read(Published.ROOT.resolve(pom)))
        .contains(
            "<name>",
            "<description>",
            "<url>",
            "<licenses>",
            "<developers>",
            "<scm",
            "<issueManagement>");
  }

  @Test
  void modulesAddNameAndDescription() {
    assertThat(Published.MODULES)
        .isNotEmpty()
        .allSatisfy(
            (artifact, module) ->
                assertThat(Published.read(module.resolve("pom.xml")))
                    .as(artifact)
                    .containsSubsequence("<parent>", "</parent>", "<name>", "<description>"));
  }
}
