// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.verbs.Access;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class KeyTableTest {
  private final EmulatedDevice device =
      (EmulatedDevice) new EmulatedProvider().open(URI.create("emulated://hca"));
  private final EmulatedProtectionDomain domain = device.allocateProtectionDomain();
  private final ByteBuffer memory = ByteBuffer.allocateDirect(64);
  private final List<EmulatedMemoryRegion> open = new ArrayList<>();

  @AfterEach
  void close() {
    open.forEach(EmulatedMemoryRegion::close);
    domain.close();
    device.close();
  }

  @Test
  void findsWhatIsOpenAndNothingElse() {
    Random random = new Random(1);
    List<Integer> dead = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      if (open.isEmpty() || random.nextInt(100) < 55) {
        open.add(domain.register(memory, Set.of(Access.LOCAL_WRITE)));
      } else {
        EmulatedMemoryRegion region = open.remove(random.nextInt(open.size()));
        region.close();
        dead.add(region.lkey());
      }
    }

    assertThat(device.keys().size()).isEqualTo(open.size());
    for (EmulatedMemoryRegion region : open) {
      KeyEntry key = device.keys().find(region.lkey());
      assertThat(key).isNotNull();
      assertThat(key.address()).isEqualTo(region.address());
    }
    // Keys are random, so a dead key may have been assigned to another region.
    dead.removeAll(open.stream().map(EmulatedMemoryRegion::lkey).collect(Collectors.toSet()));
    for (int key : dead) {
      assertThat(device.keys().find(key)).isNull();
    }
  }

  @Test
  void keysUseAllTheirBits() {
    int everSet = 0;
    int everClear = 0;
    for (int i = 0; i < 200; i++) {
      EmulatedMemoryRegion region = domain.register(memory, Set.of(Access.REMOTE_READ));
      open.add(region);
      everSet |= region.rkey();
      everClear |= ~region.rkey();
    }

    assertThat(everSet).isEqualTo(-1);
    assertThat(everClear).isEqualTo(-1);
  }
}
