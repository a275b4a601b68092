// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.ProtectionDomain;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Random programs against a sequential model; a failure names the seed. */
abstract class RandomProgramTests extends VerbsTests {
  private static final int STEPS = 80;
  private static final int THREADS = 4;

  RandomProgramTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void followTheModelOfOneConnection() {
    for (int seed = 1; seed <= tck.iterations(200); seed++) {
      EndpointPair pair = tck.setup().sends(1 + seed % 16).receives(1 + seed % 7).byHand();
      TestMemory remote = pair.server().open(RandomProgram.BYTES);
      TestMemory shared = pair.server().open(Long.BYTES);
      RandomProgram program = new RandomProgram(tck, pair, remote, shared);

      program.run(seed, STEPS);

      assertThat(shared.getLong(0)).as("seed %d: added", seed).isEqualTo(program.added());
    }
  }

  @Test
  void followTheirModelsSideBySide() throws InterruptedException {
    int programs = tck.iterations(50);
    ProtectionDomain domain = tck.own(tck.serverDevice().allocateProtectionDomain());
    Set<Access> everything = EnumSet.of(Access.LOCAL_WRITE);
    everything.addAll(tck.remoteAccess());
    TestMemory memory = tck.memory(domain, (THREADS + 1) * RandomProgram.BYTES, everything);
    TestMemory shared = memory.part(THREADS * RandomProgram.BYTES, Long.BYTES);
    Parallel parallel = new Parallel();
    List<RandomProgram> all = new ArrayList<>();
    for (int thread = 0; thread < THREADS; thread++) {
      EndpointPair pair = tck.setup().serverDomain(domain).byHand();
      TestMemory own = memory.part(thread * RandomProgram.BYTES, RandomProgram.BYTES);
      RandomProgram program = new RandomProgram(tck, pair, own, shared).withoutWaits();
      all.add(program);
      long seed = 1000L * (thread + 1);
      parallel.thread(() -> program.run(seed, programs * STEPS));
    }

    parallel.run(tck.timeout().multipliedBy(3));

    assertThat(shared.getLong(0))
        .as("added by all")
        .isEqualTo(all.stream().mapToLong(RandomProgram::added).sum());
  }
}
