// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Isolated;
import reactor.core.publisher.Hooks;

/**
 * Tests Reactor hooks that throw while user code misbehaves. Hooks are global to the JVM, so no
 * other test runs at the same time.
 */
@Isolated
class HookMisuseTest {
  private static final List<Misdeed> KINDS =
      List.of(Misdeed.THROWS_EXCEPTION, Misdeed.THROWS_LINKAGE_ERROR, Misdeed.THROWS_OUT_OF_MEMORY);

  private Room room;

  /** A Reactor hook that is called where user code misbehaves. */
  enum Hook {
    OPERATOR_ERROR,
    NEXT_DROPPED,
    ERROR_DROPPED
  }

  @BeforeEach
  void open() {
    room = new Room();
  }

  @AfterEach
  void close() {
    reset();
    room.close();
  }

  private static void reset() {
    Hooks.resetOnOperatorError();
    Hooks.resetOnNextDropped();
    Hooks.resetOnErrorDropped();
  }

  @TestFactory
  Stream<DynamicTest> thatThrow() {
    return Stream.of(Hook.values())
        .flatMap(
            hook ->
                KINDS.stream().map(kind -> dynamicTest(hook + " " + kind, () -> run(hook, kind))));
  }

  private void run(Hook hook, Misdeed kind) throws InterruptedException {
    set(hook, kind);
    try {
      for (Moment moment : List.of(Moment.CONNECTED, Moment.DYING)) {
        for (Misuse misuse : Misuse.at(moment)) {
          // Reactor's own operators serve bind and onClose, in the subscriber's thread.
          if (!misuse.operation().isOfServer()
              && (misuse.misdeed() == Misdeed.THROWS_EXCEPTION
                  || misuse.misdeed().isOfPublishers())) {
            play(misuse);
          }
        }
      }
    } finally {
      reset();
    }
  }

  private void set(Hook hook, Misdeed kind) {
    switch (hook) {
      case OPERATOR_ERROR ->
          Hooks.onOperatorError(
              (error, data) -> {
                kind.commitThrow();
                return error;
              });
      case NEXT_DROPPED -> Hooks.onNextDropped(item -> kind.commitThrow());
      case ERROR_DROPPED -> Hooks.onErrorDropped(error -> kind.commitThrow());
    }
  }

  private void play(Misuse misuse) throws InterruptedException {
    try {
      Scene scene = new Scene(misuse, room);
      scene.play();
      room.echo();
      scene.end();
      room.assertIsEmpty();
    } catch (AssertionError e) {
      throw new AssertionError(misuse + ": " + e.getMessage(), e);
    }
  }
}
