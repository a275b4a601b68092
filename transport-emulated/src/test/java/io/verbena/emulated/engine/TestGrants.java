// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.emulated.mapped.ReadGrant;
import io.verbena.emulated.mapped.ReadGrants;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Grants between ends in one process: each end can copy from the other's regions. */
final class TestGrants implements ReadGrants {
  private final List<End> ends;
  private final Set<Grant> held = new HashSet<>();

  /** Number of copies without packets. */
  int copies;

  /** Runs during each copy. */
  Runnable meanwhile = () -> {};

  private record Grant(int queuePair, int reader, int key) {
    static Grant of(ReadGrant what) {
      return new Grant(what.queuePair(), what.readerQueuePair(), what.key());
    }
  }

  private TestGrants(List<End> ends) {
    this.ends = ends;
    ends.forEach(end -> end.grants = this);
  }

  /** Lets both ends of a pair grant their memory. */
  static TestGrants between(Pair pair) {
    return new TestGrants(List.of(pair.a, pair.b));
  }

  @Override
  public void grant(Gid reader, ReadGrant what) {
    if (reader.low() != what.readerQueuePair()) {
      throw new AssertionError(reader + " has no queue pair " + what.readerQueuePair());
    }
    held.add(Grant.of(what));
  }

  /** Grants a key without the READs that usually precede a grant. */
  void grant(End end, End reader, int key) {
    held.add(new Grant(end.number, reader.number, key));
  }

  @Override
  public void revoke(int queuePair) {
    held.removeIf(each -> each.queuePair == queuePair);
  }

  void revokeAll() {
    held.clear();
  }

  boolean holds(End end, End reader, int key) {
    return held.contains(new Grant(end.number, reader.number, key));
  }

  @Override
  public boolean find(Gid host, ReadGrant wanted, PayloadReference to) {
    Grant grant = Grant.of(wanted);
    Region region = region(wanted);
    long at = wanted.address() - region.address;
    if (!held.contains(grant) || at < 0 || at + wanted.length() > region.bytes.length) {
      return false;
    }
    to.found(ByteBuffer.wrap(region.bytes), (int) at, () -> confirm(grant));
    return true;
  }

  private Region region(ReadGrant wanted) {
    for (End end : ends) {
      Region region = end.number == wanted.queuePair() ? end.host.find(wanted.key()) : null;
      if (region != null) {
        return region;
      }
    }
    return new Region(0, 0, wanted.key(), 0);
  }

  private boolean confirm(Grant grant) {
    copies++;
    meanwhile.run();
    return held.contains(grant);
  }
}
