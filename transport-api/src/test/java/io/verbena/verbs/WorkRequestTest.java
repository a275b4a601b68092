// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class WorkRequestTest {
  @Test
  void aNewOperationForgetsTheFlagsAndBuffersOfTheLast() {
    SendWorkRequest request =
        new SendWorkRequest().id(3).write(1, 2).signaled().fence().inline(ByteBuffer.allocate(4));

    request.read(5, 6);

    assertThat(request.id()).isEqualTo(3);
    assertThat(request.opcode()).isEqualTo(SendOpcode.RDMA_READ);
    assertThat(request.flags()).isZero();
    assertThat(request.inlineData()).isNull();
    assertThat(request.buffers().size()).isZero();
    assertThat(request.remoteAddress()).isEqualTo(5);
    assertThat(request.remoteKey()).isEqualTo(6);
  }

  @Test
  void hasTheInlineDataAndTheLinkThatItWasGivenLast() {
    ByteBuffer first = ByteBuffer.allocate(4);
    ByteBuffer ofEqualBytes = ByteBuffer.allocate(4);
    SendWorkRequest request = new SendWorkRequest().send().inline(first).send();
    SendWorkRequest copy = new SendWorkRequest();

    copy.copyFrom(request);

    assertThat(copy.inlineData()).isNull();
    assertThat(request.send().inline(first).inlineData()).isSameAs(first);
    assertThat(request.send().inline(ofEqualBytes).inlineData()).isSameAs(ofEqualBytes);
    assertThat(request.next(copy).next()).isSameAs(copy);
    assertThat(request.next(null).next()).isNull();
  }

  @Test
  void copiesEverythingButItsLink() {
    SendWorkRequest from =
        new SendWorkRequest(2)
            .id(9)
            .compareAndSwap(64, 7, 1, 2)
            .signaled()
            .next(new SendWorkRequest());
    from.buffers().add(10, 4, 1);
    from.buffers().add(20, 4, 2);
    SendWorkRequest to = new SendWorkRequest(2);

    to.copyFrom(from);

    assertThat(to).usingRecursiveComparison().ignoringFields("next").isEqualTo(from);
    assertThat(to.next()).isNull();
  }

  @Test
  void addsUpItsBuffers() {
    ScatterGatherList buffers = new SendWorkRequest(2).buffers();
    buffers.add(0, Integer.MAX_VALUE, 1);
    buffers.add(0, Integer.MAX_VALUE, 1);

    assertThat(buffers.totalLength()).isEqualTo(2L * Integer.MAX_VALUE);
    assertThatThrownBy(() -> buffers.add(0, 1, 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("entries: 3");
    assertThatThrownBy(() -> buffers.address(2)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void rejectsANegativeLength() {
    ReceiveWorkRequest request = new ReceiveWorkRequest();
    assertThatThrownBy(() -> request.buffer(0, -1, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("length: -1");
  }
}
