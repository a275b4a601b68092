package io.verbena.tck;

import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;

/** Work requests in one line. Sends are unsignaled until {@code signaled()} is called. */
final class Requests {
  private Requests() {}

  static ReceiveWorkRequest receive(long id, Memory... into) {
    ReceiveWorkRequest request = new ReceiveWorkRequest(into.length).id(id);
    for (Memory memory : into) {
      request.buffers().add(memory.address(), memory.length(), memory.lkey());
    }
    return request;
  }

  static SendWorkRequest send(long id, Memory... from) {
    return withBuffers(request(id, from).send(), from);
  }

  static SendWorkRequest sendWithImmediate(long id, int immediate, Memory... from) {
    return withBuffers(request(id, from).sendWithImmediate(immediate), from);
  }

  static SendWorkRequest write(long id, Memory remote, Memory... from) {
    return withBuffers(request(id, from).write(remote.address(), remote.rkey()), from);
  }

  static SendWorkRequest writeWithImmediate(long id, int immediate, Memory remote, Memory... from) {
    return withBuffers(
        request(id, from).writeWithImmediate(remote.address(), remote.rkey(), immediate), from);
  }

  static SendWorkRequest read(long id, Memory remote, Memory... into) {
    return withBuffers(request(id, into).read(remote.address(), remote.rkey()), into);
  }

  static SendWorkRequest fetchAndAdd(long id, Memory remote, long addend, Memory into) {
    return withBuffers(
        request(id, into).fetchAndAdd(remote.address(), remote.rkey(), addend), into);
  }

  static SendWorkRequest compareAndSwap(
      long id, Memory remote, long expected, long swap, Memory into) {
    return withBuffers(
        request(id, into).compareAndSwap(remote.address(), remote.rkey(), expected, swap), into);
  }

  /** A WRITE of nothing: it always succeeds on a live connection and needs no memory. */
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

  private static SendWorkRequest request(long id, Memory... memory) {
    return new SendWorkRequest(memory.length).id(id);
  }

  private static SendWorkRequest withBuffers(SendWorkRequest request, Memory... memory) {
    for (Memory part : memory) {
      request.buffers().add(part.address(), part.length(), part.lkey());
    }
    return request;
  }
}
