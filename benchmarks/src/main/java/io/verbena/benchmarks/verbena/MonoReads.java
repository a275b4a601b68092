// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.netty.buffer.ByteBuf;
import io.verbena.PollMode;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.ByteBufferView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.benchmarks.work.OneSided;
import io.verbena.benchmarks.work.ReadCheck;
import io.verbena.benchmarks.work.ReadLayout;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** Reads through {@code Mono}, on the client's completion loop, several outstanding at once. */
public final class MonoReads implements OneSided {
  private final ReactivePair pair = new ReactivePair(PollMode.BUSY, PollMode.EVENT);
  private final RdmaConnection connection = pair.client();
  private final RdmaMemory.Region region;
  private final RemoteMemory[] slots;
  private final Chain[] chains;

  public MonoReads(ReadLayout layout, int depth) {
    ByteBuffer far = DirectMemory.allocate(layout.bytes());
    region = pair.server().memory().register(far, EnumSet.of(RemoteMemory.Right.READ));
    slots = new RemoteMemory[layout.slots()];
    for (int slot = 0; slot < slots.length; slot++) {
      layout.fill(slot, new ByteBufferView(far, layout.offset(slot)));
      slots[slot] = region.token().slice(layout.offset(slot), layout.size());
    }
    chains = new Chain[depth];
    for (int i = 0; i < depth; i++) {
      chains[i] = new Chain(connection.memory().allocator().directBuffer(layout.size()));
    }
  }

  @Override
  public void read(long operations, ReadCheck check, Deadline deadline) throws Exception {
    // This thread chooses the first slot of each chain; the loop chooses all later ones.
    CompletableFuture<?>[] done = new CompletableFuture<?>[chains.length];
    for (int i = 0; i < chains.length; i++) {
      long share = operations / chains.length + (i < operations % chains.length ? 1 : 0);
      done[i] = chains[i].begin(share, check, check.nextSlot());
    }
    for (Chain chain : chains) {
      chain.read();
    }
    deadline.await(CompletableFuture.allOf(done));
  }

  @Override
  public void close() {
    for (Chain chain : chains) {
      chain.local.release();
    }
    region.close();
    pair.close();
  }

  /** Reads repeatedly into the same buffer. */
  private final class Chain implements CoreSubscriber<Void> {
    private final ByteBuf local;
    private final ByteBufView view = new ByteBufView();
    private ReadCheck check = new ReadCheck(new ReadLayout(64, 3));
    private CompletableFuture<Void> done = new CompletableFuture<>();
    private long left;
    private int slot;
    private boolean reading;
    private boolean again;

    private Chain(ByteBuf local) {
      this.local = local;
    }

    private CompletableFuture<Void> begin(long operations, ReadCheck check, int slot) {
      this.check = check;
      this.slot = slot;
      this.left = operations;
      this.done = new CompletableFuture<>();
      return done;
    }

    private void read() {
      connection.read(slots[slot], local.clear()).subscribe(this);
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Void none) {}

    @Override
    public void onError(Throwable failure) {
      done.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
      try {
        check.accept(slot, view.wrap(local));
      } catch (RuntimeException e) {
        done.completeExceptionally(e);
        return;
      }
      if (--left == 0) {
        done.complete(null);
        return;
      }
      slot = check.nextSlot();
      again = true;
      // A read may complete before its subscription returns; a loop keeps the stack flat.
      if (!reading) {
        reading = true;
        while (again) {
          again = false;
          read();
        }
        reading = false;
      }
    }
  }
}
