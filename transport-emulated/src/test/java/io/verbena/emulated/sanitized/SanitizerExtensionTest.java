// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitized;

import static io.verbena.verbs.Access.LOCAL_WRITE;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.testkit.engine.EventConditions.event;
import static org.junit.platform.testkit.engine.EventConditions.finishedSuccessfully;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.EventConditions.test;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.instanceOf;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

import io.verbena.emulated.sanitizer.Finding;
import io.verbena.emulated.sanitizer.junit.SanitizerExtension;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProviders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** The extension fails wrong programs and passes correct ones. */
class SanitizerExtensionTest {
  private static final String INNER = "verbena.test.inner";

  private static Events run(Class<?> tests) {
    return EngineTestKit.engine("junit-jupiter")
        .configurationParameter("junit.jupiter.conditions.deactivate", "*")
        .selectors(selectClass(tests))
        .execute()
        .testEvents();
  }

  @Test
  void failsATestWithAllItsPlaces() {
    run(Watched.class)
        .assertThatEvents()
        .haveExactly(
            1,
            event(
                test("sendsWithoutCredit"),
                finishedWithFailure(
                    instanceOf(AssertionError.class),
                    message(
                        text ->
                            text.startsWith("the sanitizer found 1")
                                && text.contains("SEND_WITHOUT_RECEIVE")
                                && text.contains("Watched.sendsWithoutCredit")))))
        .haveExactly(
            1,
            event(
                test("closesNothing"),
                finishedWithFailure(
                    instanceOf(AssertionError.class),
                    message(text -> text.contains("NEVER_CLOSED: device")))))
        .haveExactly(1, event(test("isRight"), finishedSuccessfully()));
  }

  @Test
  void ignoresWhatItIsToldTo() {
    run(Lenient.class)
        .assertThatEvents()
        .haveExactly(1, event(test("closesNothing"), finishedSuccessfully()));
  }

  @EnabledIfSystemProperty(named = INNER, matches = "true")
  @ExtendWith(SanitizerExtension.class)
  static class Watched {
    @Test
    void sendsWithoutCredit() {
      ProgramTests.run(
          (client, server) -> {
            Memory into = server.memory(8, LOCAL_WRITE);
            client.queuePair.postSend(client.memory(8).send(1).signaled());
            server.queuePair.postReceive(into.receive(2));
            End.take(client.sends);
            End.take(server.receives);
          });
    }

    @Test
    void closesNothing() {
      Device unused = VerbsProviders.find(End.ADDRESS).open(End.ADDRESS);
    }

    @Test
    void isRight() {
      ProgramTests.run(
          (client, server) -> {
            server.queuePair.postReceive(server.memory(8, LOCAL_WRITE).receive(2));
            client.queuePair.postSend(client.memory(8).send(1).signaled());
            End.take(client.sends);
            End.take(server.receives);
          });
    }
  }

  @EnabledIfSystemProperty(named = INNER, matches = "true")
  static class Lenient {
    @RegisterExtension
    final SanitizerExtension sanitizer = SanitizerExtension.ignoring(Finding.Kind.NEVER_CLOSED);

    @Test
    void closesNothing() {
      Device unused = VerbsProviders.find(End.ADDRESS).open(End.ADDRESS);
    }
  }
}
