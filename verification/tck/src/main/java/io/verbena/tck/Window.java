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

/** A type 2 window, and how an end binds it. */
record Window(Endpoint end, MemoryWindow window) {

  /** A window of the end's domain. */
  static Window of(Endpoint end) {
    return new Window(
        end, end.tck().own(end.domain().allocateMemoryWindow(MemoryWindowType.TYPE_2B)));
  }

  /** The key that a next bind would give it. */
  int nextKey() {
    return (window.rkey() & ~0xff) | (window.rkey() + 1 & 0xff);
  }

  /** A BIND_MW with the next key. */
  SendWorkRequest request(long id, TestMemory shown, Access... rights) {
    return new SendWorkRequest()
        .id(id)
        .bind(window, nextKey(), shown.region(), Access.bits(Arrays.asList(rights)))
        .buffer(shown.address(), shown.length(), shown.lkey());
  }

  /** Binds it, and answers the memory as peers see it through the window. */
  TestMemory show(TestMemory shown, Access... rights) {
    int key = nextKey();
    end.post(request(77, shown, rights).signaled());
    end.sent().expectSuccess(77, CompletionOpcode.BIND_MW);
    assertThat(window.rkey()).as("the window's key").isEqualTo(key);
    return shown.under(key);
  }

  /** Asserts that a bind is refused, which stops the queue pair. */
  void expectRefusal(TestMemory shown, Access... rights) {
    expectRefusal(request(78, shown, rights));
  }

  void expectRefusal(SendWorkRequest bind) {
    end.post(bind.id(78));
    end.sent().expectError(78, CompletionStatus.MW_BIND_ERR);
    end.awaitState(QueuePairState.ERR);
  }
}
