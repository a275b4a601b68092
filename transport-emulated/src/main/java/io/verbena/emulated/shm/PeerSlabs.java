// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.verbs.Gid;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The slabs of a peer that this host has mapped: a slab is mapped when a packet first refers to it,
 * and unmapped after the peer has freed it. For the driver only.
 */
final class PeerSlabs implements Slabs {
  private final SharedFolder folder;
  private final Gid peer;
  private final SleepFlag flag;
  private final List<Slab> mapped = new ArrayList<>();
  private int freedSeen;

  private record Slab(int number, Mapping mapping) {}

  PeerSlabs(SharedFolder folder, Gid peer, SleepFlag flag) {
    this.folder = folder;
    this.peer = peer;
    this.flag = flag;
    freedSeen = flag.slabsFreed();
  }

  @Override
  public ByteBuffer find(int number) throws IOException {
    ByteBuffer known = known(number);
    if (known != null) {
      return known;
    }
    unmapFreed();
    Mapping mapping = folder.mapSlab(peer, number);
    mapped.add(new Slab(number, mapping));
    return mapping.bytes();
  }

  private @Nullable ByteBuffer known(int number) {
    // Most packets refer to few slabs, often to the one mapped last.
    for (int i = mapped.size() - 1; i >= 0; i--) {
      Slab each = mapped.get(i);
      if (each.number == number) {
        return each.mapping.bytes();
      }
    }
    return null;
  }

  /** Unmaps the slabs that the peer has freed since the last call. */
  void unmapFreed() {
    int freed = flag.slabsFreed();
    if (freed != freedSeen) {
      freedSeen = freed;
      mapped.removeIf(this::unmapIfFreed);
    }
  }

  private boolean unmapIfFreed(Slab slab) {
    boolean freed = !folder.hasSlab(peer, slab.number);
    if (freed) {
      slab.mapping.close();
    }
    return freed;
  }

  /** Unmaps all slabs. */
  void close() {
    mapped.forEach(each -> each.mapping.close());
    mapped.clear();
  }
}
