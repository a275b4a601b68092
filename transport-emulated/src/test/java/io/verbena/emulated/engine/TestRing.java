// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;

/** A send queue for tests. */
public final class TestRing implements SendRing {
  static final int CAPACITY = 64;

  private final SendWorkRequest[] slots = new SendWorkRequest[CAPACITY];
  private long posted;

  public TestRing() {
    for (int i = 0; i < CAPACITY; i++) {
      slots[i] = new SendWorkRequest(8);
    }
  }

  public void post(SendWorkRequest request) {
    SendWorkRequest slot = slots[(int) (posted % CAPACITY)];
    slot.copyFrom(request);
    ByteBuffer inline = request.inlineData();
    if (inline != null) {
      ByteBuffer copy = ByteBuffer.allocate(inline.remaining());
      copy.put(0, inline, inline.position(), inline.remaining());
      slot.inline(copy);
    }
    posted++;
  }

  @Override
  public long posted() {
    return posted;
  }

  @Override
  public SendWorkRequest request(long position) {
    return slots[(int) (position % CAPACITY)];
  }
}
