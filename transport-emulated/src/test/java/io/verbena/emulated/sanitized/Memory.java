package io.verbena.emulated.sanitized;

import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;

/** Registered memory and requests on all of it. */
record Memory(ByteBuffer bytes, MemoryRegion region) {

  ReceiveWorkRequest receive(long id) {
    return new ReceiveWorkRequest().id(id).buffer(region.address(), length(), region.lkey());
  }

  SendWorkRequest send(long id) {
    return buffered(new SendWorkRequest().id(id).send());
  }

  SendWorkRequest write(long id, Memory remote) {
    return buffered(
        new SendWorkRequest().id(id).write(remote.region.address(), remote.region.rkey()));
  }

  SendWorkRequest read(long id, Memory remote) {
    return buffered(
        new SendWorkRequest().id(id).read(remote.region.address(), remote.region.rkey()));
  }

  private SendWorkRequest buffered(SendWorkRequest request) {
    return request.buffer(region.address(), length(), region.lkey());
  }

  int length() {
    return (int) region.length();
  }

  Memory fill(int value) {
    for (int i = 0; i < bytes.capacity(); i++) {
      bytes.put(i, (byte) (value + i));
    }
    return this;
  }
}
