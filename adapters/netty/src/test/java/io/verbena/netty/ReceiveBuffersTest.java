// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.verbena.RdmaOptions;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.verbs.Device;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsProviders;
import java.lang.reflect.Proxy;
import java.net.URI;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Reads whose receives the HCA refuses to take again. */
@SuppressWarnings("deprecation") // of RecvByteBufAllocator.Handle, which the pipeline still gives
class ReceiveBuffersTest {
  private static final int LENGTH = 2048;

  private boolean refuses;
  private final QueuePair queuePair =
      (QueuePair)
          Proxy.newProxyInstance(
              getClass().getClassLoader(),
              new Class<?>[] {QueuePair.class},
              (proxy, method, arguments) -> {
                assertThat(method.getName()).isEqualTo("postReceive");
                if (refuses) {
                  long id = ((ReceiveWorkRequest) arguments[0]).id();
                  throw new PostException(VerbsError.NO_MEMORY, id, "refused by a test");
                }
                return null;
              });
  private final Device device;
  private final ProtectionDomain domain;
  private final RegisteredMemory memory;
  private final ReceiveBuffers receives;

  ReceiveBuffersTest() {
    URI address = URI.create("emulated://receive-buffers");
    device = VerbsProviders.find(address).open(address);
    domain = device.allocateProtectionDomain();
    memory = new RegisteredMemory(domain, RdmaOptions.defaults());
    receives = new ReceiveBuffers(memory, queuePair, 0, LENGTH, 0, 4, 8);
  }

  @AfterEach
  void close() {
    receives.release();
    memory.close();
    domain.close();
    device.close();
  }

  @Test
  void releaseTheBufferThatTheyCopyInto() {
    receives.arrived(0, 10, false);
    refuses = true;
    ByteBuf into = Unpooled.buffer(10, 10);
    ByteBufAllocator allocator = onlyOf(into);

    assertThatThrownBy(() -> receives.read(handle(10), allocator, false))
        .isInstanceOf(PostException.class);

    assertThat(into.refCnt()).isZero();
  }

  @Test
  void releaseTheReceiveThatTheyHandOut() {
    receives.arrived(0, LENGTH, false);
    refuses = true;

    // The leak detector sees whether it was released.
    assertThatThrownBy(() -> receives.read(handle(LENGTH), ByteBufAllocator.DEFAULT, false))
        .isInstanceOf(PostException.class);
  }

  private static ByteBufAllocator onlyOf(ByteBuf buffer) {
    return (ByteBufAllocator)
        Proxy.newProxyInstance(
            ReceiveBuffersTest.class.getClassLoader(),
            new Class<?>[] {ByteBufAllocator.class},
            (proxy, method, arguments) -> buffer);
  }

  private static RecvByteBufAllocator.Handle handle(int bytes) {
    return new FixedRecvByteBufAllocator(bytes).newHandle();
  }
}
