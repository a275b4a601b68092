// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.AcceptDecision;
import io.verbena.AcceptHook;
import io.verbena.ConnectRequest;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

class HookCallTest {
  private static final ConnectRequest REQUEST =
      new ConnectRequest("peer", null, ByteBuffer.allocate(0));

  private final Queue<Runnable> waiting = new ArrayDeque<>();

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aHookIsNotCalledIfItsCallIsCancelledBeforeItBegins(boolean interrupts) {
    AtomicInteger calls = new AtomicInteger();
    AtomicInteger answers = new AtomicInteger();
    AcceptHook hook =
        request -> {
          calls.incrementAndGet();
          return Mono.just(AcceptDecision.accept());
        };
    HookCall call =
        HookCall.start(
            hook,
            REQUEST,
            Schedulers.fromExecutor(waiting::add),
            (decision, failure) -> answers.incrementAndGet());
    Consumer<HookCall> cancel = interrupts ? HookCall::cancel : HookCall::cancelWithoutInterrupt;

    cancel.accept(call);
    waiting.forEach(Runnable::run);

    assertThat(calls).hasValue(0);
    assertThat(answers).hasValue(0);
  }
}
