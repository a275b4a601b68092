// SPDX-License-Identifier: Apache-2.0
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

/**
 * Binds a memory window of either type.
 *
 * @param end the endpoint that binds it
 * @param window the window, of the endpoint's domain
 */
record WindowBinder(Endpoint end, MemoryWindow window) {
  /** Allocates a window of a type in the domain of an endpoint. */
  static WindowBinder of(MemoryWindowType type, Endpoint end) {
    return new WindowBinder(end, end.tck().own(end.domain().allocateMemoryWindow(type)));
  }

  /** Allocates a type 2 window in the domain of an endpoint. */
  static WindowBinder type2(Endpoint end) {
    return of(MemoryWindowType.TYPE_2B, end);
  }

  private boolean isType1() {
    return window.type() == MemoryWindowType.TYPE_1;
  }

  /** Returns the key that the next bind of a type 2 window requests. */
  int nextKey() {
    return (window.rkey() & ~0xff) | (window.rkey() + 1 & 0xff);
  }

  /** Returns a request that binds the window; to the next key if it is of type 2. */
  SendWorkRequest request(long id, TestMemory shown, Access... rights) {
    SendWorkRequest request = new SendWorkRequest().id(id);
    int access = Access.bits(Arrays.asList(rights));
    if (isType1()) {
      request.bind(window, shown.region(), access);
    } else {
      request.bind(window, nextKey(), shown.region(), access);
    }
    return request.buffer(shown.address(), shown.length(), shown.lkey());
  }

  /** Returns a request that unbinds a type 1 window; {@code memory} is any memory of the domain. */
  SendWorkRequest unbind(long id, TestMemory memory) {
    return new SendWorkRequest().id(id).bind(window, memory.region(), 0);
  }

  /** Posts a bind with the verb for the window's type. */
  void post(SendWorkRequest bind) {
    postThrough(end, bind);
  }

  private void postThrough(Endpoint other, SendWorkRequest bind) {
    if (isType1()) {
      other.queuePair().bindMemoryWindow(bind);
    } else {
      other.post(bind);
    }
  }

  /** Binds the window and returns the memory as peers access it through the window. */
  TestMemory show(TestMemory shown, Access... rights) {
    return showThrough(end, shown, rights);
  }

  /** Binds the window through another queue pair of the domain. */
  TestMemory showThrough(Endpoint other, TestMemory shown, Access... rights) {
    bindThrough(other, request(77, shown, rights));
    return shown.throughWindow(window.rkey());
  }

  /** Binds the window while a peer uses its current key. */
  void showUnderFire(TestMemory shown, Access... rights) {
    post(request(77, shown, rights).signaled());
    end.sent().expectSuccessOrFlush(77);
  }

  /** Binds the window and asserts that it has a new key; for type 2, the requested key. */
  void bind(SendWorkRequest bind) {
    bindThrough(end, bind);
  }

  private void bindThrough(Endpoint other, SendWorkRequest bind) {
    int before = window.rkey();
    int requested = nextKey();
    postThrough(other, bind.signaled());
    other.sent().expectSuccess(bind.id(), CompletionOpcode.BIND_MW);
    if (isType1()) {
      assertThat(window.rkey()).as("the window's key").isNotEqualTo(before);
    } else {
      assertThat(window.rkey()).as("the window's key").isEqualTo(requested);
    }
  }

  /** Asserts that a bind completes with an error and moves the queue pair to ERR. */
  void expectRefusal(TestMemory shown, Access... rights) {
    expectRefusal(request(78, shown, rights));
  }

  void expectRefusal(SendWorkRequest bind) {
    post(bind.id(78));
    end.sent().expectError(78, CompletionStatus.MW_BIND_ERR);
    end.awaitState(QueuePairState.ERR);
  }
}
