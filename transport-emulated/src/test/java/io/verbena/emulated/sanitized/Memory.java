// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitized;

import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;

/** Registered memory, and requests that cover all of it. */
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

  SendWorkRequest fetchAndAdd(long id, Memory remote) {
    return buffered(
        new SendWorkRequest().id(id).fetchAndAdd(remote.region.address(), remote.region.rkey(), 1));
  }

  /** Returns a WRITE of all memory to {@code remote}, under another key than that of its region. */
  SendWorkRequest write(long id, Memory remote, int key) {
    return buffered(new SendWorkRequest().id(id).write(remote.region.address(), key));
  }

  /** Returns a bind of a window to all memory. */
  SendWorkRequest bind(long id, MemoryWindow window, int key) {
    return buffered(
        new SendWorkRequest().id(id).bind(window, key, region, Access.REMOTE_WRITE.bit()));
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
