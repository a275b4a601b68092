// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;

/** Factory of work requests. Send requests are unsignaled until {@code signaled()} is called. */
final class Requests {
  private Requests() {}

  static ReceiveWorkRequest receive(long id, TestMemory... into) {
    ReceiveWorkRequest request = new ReceiveWorkRequest(into.length).id(id);
    for (TestMemory memory : into) {
      request.buffers().add(memory.address(), memory.length(), memory.lkey());
    }
    return request;
  }

  static SendWorkRequest send(long id, TestMemory... from) {
    return withBuffers(request(id, from).send(), from);
  }

  static SendWorkRequest sendWithImmediate(long id, int immediate, TestMemory... from) {
    return withBuffers(request(id, from).sendWithImmediate(immediate), from);
  }

  static SendWorkRequest write(long id, TestMemory remote, TestMemory... from) {
    return withBuffers(request(id, from).write(remote.address(), remote.rkey()), from);
  }

  static SendWorkRequest writeWithImmediate(
      long id, int immediate, TestMemory remote, TestMemory... from) {
    return withBuffers(
        request(id, from).writeWithImmediate(remote.address(), remote.rkey(), immediate), from);
  }

  static SendWorkRequest read(long id, TestMemory remote, TestMemory... into) {
    return withBuffers(request(id, into).read(remote.address(), remote.rkey()), into);
  }

  static SendWorkRequest fetchAndAdd(long id, TestMemory remote, long addend, TestMemory into) {
    return withBuffers(
        request(id, into).fetchAndAdd(remote.address(), remote.rkey(), addend), into);
  }

  static SendWorkRequest compareAndSwap(
      long id, TestMemory remote, long expected, long swap, TestMemory into) {
    return withBuffers(
        request(id, into).compareAndSwap(remote.address(), remote.rkey(), expected, swap), into);
  }

  /** A WRITE of zero bytes, which needs no memory and always succeeds on a connection. */
  static SendWorkRequest nothing(long id) {
    return new SendWorkRequest(0).id(id).write(0, 0);
  }

  /** Links the requests in order and returns the first. */
  static SendWorkRequest linked(SendWorkRequest... requests) {
    for (int i = 0; i + 1 < requests.length; i++) {
      requests[i].next(requests[i + 1]);
    }
    return requests[0];
  }

  /** Links the receives in order and returns the first. */
  static ReceiveWorkRequest linked(ReceiveWorkRequest... requests) {
    for (int i = 0; i + 1 < requests.length; i++) {
      requests[i].next(requests[i + 1]);
    }
    return requests[0];
  }

  private static SendWorkRequest request(long id, TestMemory... memory) {
    return new SendWorkRequest(memory.length).id(id);
  }

  private static SendWorkRequest withBuffers(SendWorkRequest request, TestMemory... memory) {
    for (TestMemory part : memory) {
      request.buffers().add(part.address(), part.length(), part.lkey());
    }
    return request;
  }
}
