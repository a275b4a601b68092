// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests JVMs that deny native access. */
@Tag(FakeRdmaCore.TAG)
@Tag("once")
final class NativeAccessTest {
  private static final int FIRST_TO_DENY = 24;

  @ParameterizedTest
  @ValueSource(strings = {"disni", "verbs"})
  void isAskedForByAnErrorOfItsOwn(String scheme) throws Exception {
    FakeRdmaCore.assumeLoaded();
    assumeTrue(
        Runtime.version().feature() >= FIRST_TO_DENY, "native code is denied by JDK 24 and later");
    assumeTrue(
        scheme.equals("disni") || FakeRdmaCore.SCHEME.equals("verbs"), "verbs:// is not here");
    List<String> command =
        new ArrayList<>(
            Natives.java("--illegal-native-access=deny", NativeAccess.class.getName(), scheme));
    command.removeIf(argument -> argument.startsWith("--enable-native-access"));

    assertThat(Natives.run(command))
        .startsWith("NOT_PERMITTED ")
        .contains("--enable-native-access=ALL-UNNAMED");
  }
}
