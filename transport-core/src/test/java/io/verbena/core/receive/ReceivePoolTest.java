// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaOptions;
import io.verbena.core.loop.CloseSteps;
import io.verbena.core.loop.CompletionQueues;
import io.verbena.core.loop.LoopMember;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.emulated.DeviceFault;
import io.verbena.meters.HcaMeter;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsProviders;
import io.verbena.verbs.WorkCompletion;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests a pool whose HCA fails while connections take receives. */
@Tag("once")
class ReceivePoolTest {
  private static final URI ADDRESS = URI.create("emulated://receive-pool?fuse=receive-pool");
  private static final String FUSE = "receive-pool";
  private static final int FRAME = 8192;
  private static final int FIRST = 4;
  private static final int NOBODY = 1;

  private final Device device = VerbsProviders.find(ADDRESS).open(ADDRESS);
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final RegisteredMemory memory =
      new RegisteredMemory(domain, RdmaOptions.builder().maxRegisteredBytes(1 << 20).build());
  private final ReceiveFrames frames = new ReceiveFrames(memory, FRAME);
  private final CompletionQueues<LoopMember> completions =
      new CompletionQueues<>(device, null, HcaMeter.OFF);
  private final Counts counts = new Counts();
  private final List<Long> posted = new ArrayList<>();
  private final ReceivePool pool =
      new ReceivePool(
          completions, watched(), frames, 64, FIRST, () -> 0, null, counts, new CloseSteps());
  private final ReceiveShare share = pool.join();
  private boolean refuses;

  /** Sums what the pool reports. */
  private static final class Counts extends HcaMeter {
    private long size;
    private long promised;

    @Override
    public void receivePool(long sizeChange, long promisedChange) {
      size += sizeChange;
      promised += promisedChange;
    }
  }

  /** Refuses receives while the test says so. */
  private final class Queue implements SharedReceiveQueue {
    private final SharedReceiveQueue real;

    Queue(SharedReceiveQueue real) {
      this.real = real;
    }

    @Override
    public int maxWorkRequests() {
      return real.maxWorkRequests();
    }

    @Override
    public int maxScatterGather() {
      return real.maxScatterGather();
    }

    @Override
    public int limit() {
      return real.limit();
    }

    @Override
    public void limit(int limit) {
      real.limit(limit);
    }

    @Override
    public void postReceive(ReceiveWorkRequest request) {
      if (refuses) {
        throw new PostException(VerbsError.IO, request.id(), "refused by a test");
      }
      real.postReceive(request);
      posted.add(request.id());
    }

    @Override
    public void close() {
      real.close();
    }
  }

  private ProtectionDomain watched() {
    return (ProtectionDomain)
        Proxy.newProxyInstance(
            ReceivePoolTest.class.getClassLoader(),
            new Class<?>[] {ProtectionDomain.class},
            (proxy, method, arguments) ->
                new Queue(
                    domain.createSharedReceiveQueue(
                        (Integer) arguments[0], (Integer) arguments[1])));
  }

  @AfterEach
  void close() {
    share.release();
    assertThat(counts.promised).isZero();
    assertThat(counts.size).isZero();
    completions.close();
    memory.close();
    domain.close();
    device.close();
  }

  @Test
  void growsByNothingOnAnHcaThatHasFailed() {
    List<ByteBuf> hoard = takeAllFrames();
    assertThat(DeviceFault.inject(FUSE)).isEqualTo(1);

    assertThat(share.grow(8)).isZero();

    assertThat(counts.promised).isEqualTo(FIRST);
    hoard.forEach(ByteBuf::release);
  }

  /** Takes all frames of the slabs, so that the next frame needs another slab. */
  private List<ByteBuf> takeAllFrames() {
    List<ByteBuf> taken = new ArrayList<>();
    long before = memory.registeredBytes();
    while (memory.registeredBytes() == before) {
      taken.add(frames.allocate());
    }
    long slab = memory.registeredBytes() - before;
    for (long left = slab / FRAME - 1; left > 0; left--) {
      taken.add(frames.allocate());
    }
    assertThat(memory.registeredBytes()).isEqualTo(before + slab);
    return taken;
  }

  @Test
  void takesWhatItHasGrantedBackWhereTheHcaTakesNoReceive() {
    refuses = true;

    assertThatThrownBy(() -> share.grow(8)).isInstanceOf(PostException.class);

    assertThat(counts.promised).isEqualTo(FIRST);
  }

  /** Completions of other connections follow. */
  @Test
  void throwsNothingWhereTheHcaTakesNoReceiveInPlaceOfNobodys() {
    refuses = true;

    pool.completed(flushed(0));

    assertThat(counts.size).isEqualTo(FIRST);
  }

  @Test
  void replacesNoLostFrameOnAnHcaThatHasFailed() {
    refuses = true;
    pool.completed(flushed(0));
    refuses = false;
    List<ByteBuf> hoard = takeAllFrames();
    assertThat(DeviceFault.inject(FUSE)).isEqualTo(1);

    pool.completed(flushed(1));

    assertThat(counts.size).isEqualTo(FIRST);
    hoard.forEach(ByteBuf::release);
  }

  private WorkCompletion flushed(int receive) {
    WorkCompletion completion = new WorkCompletion();
    completion.setError(posted.get(receive), CompletionStatus.WR_FLUSH_ERR, 0, NOBODY);
    return completion;
  }
}
