package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import java.util.Arrays;

/** A type 1 window, and how any end of its domain binds it. */
record Type1Window(MemoryWindow window) {

  /** A window of the end's domain. */
  static Type1Window of(Endpoint end) {
    return new Type1Window(
        end.tck().own(end.domain().allocateMemoryWindow(MemoryWindowType.TYPE_1)));
  }

  SendWorkRequest request(long id, TestMemory shown, Access... rights) {
    return new SendWorkRequest()
        .id(id)
        .bind(window, shown.region(), Access.bits(Arrays.asList(rights)))
        .buffer(shown.address(), shown.length(), shown.lkey());
  }

  /** A bind to nothing; {@code memory} is any of the domain. */
  SendWorkRequest nothing(long id, TestMemory memory) {
    return new SendWorkRequest().id(id).bind(window, memory.region(), 0);
  }

  /** Binds it through this end, and answers the memory as peers see it through the window. */
  TestMemory show(Endpoint end, TestMemory shown, Access... rights) {
    bind(end, request(77, shown, rights));
    return shown.under(window.rkey());
  }

  /** Binds it through this end. */
  void bind(Endpoint end, SendWorkRequest bind) {
    int before = window.rkey();
    end.queuePair().bindMemoryWindow(bind.signaled());
    end.sent().expectSuccess(bind.id(), CompletionOpcode.BIND_MW);
    assertThat(window.rkey()).as("the window's key").isNotEqualTo(before);
  }

  /** Asserts that a bind is refused, which stops the queue pair. */
  void expectRefusal(Endpoint end, TestMemory shown, Access... rights) {
    expectRefusal(end, request(78, shown, rights));
  }

  void expectRefusal(Endpoint end, SendWorkRequest bind) {
    end.queuePair().bindMemoryWindow(bind.id(78));
    end.sent().expectError(78, CompletionStatus.MW_BIND_ERR);
    end.awaitState(QueuePairState.ERR);
  }
}
