// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.KeyEntry;
import io.verbena.emulated.hca.KeyTable;
import io.verbena.verbs.Access;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A valid key is found while other keys are added and removed, and a new key is found with all its
 * fields.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the new one is not there yet")
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the new one is there")
@State
public class KeyStress {
  private static final int OTHERS = 40;
  private static final EmulatedProtectionDomain DOMAIN = Devices.open().allocateProtectionDomain();
  private static final KeyEntry[] KEYS = new KeyEntry[OTHERS + 2];

  static {
    ByteBuffer memory = ByteBuffer.allocateDirect(64);
    for (int i = 0; i < KEYS.length; i++) {
      KEYS[i] = DOMAIN.register(memory, EnumSet.noneOf(Access.class)).key();
    }
  }

  private final KeyTable table = new KeyTable();

  /** Adds 30 keys, so that adding some more makes the table grow. */
  public KeyStress() {
    for (int i = 0; i < 30; i++) {
      table.add(KEYS[i]);
    }
  }

  /** Adds and removes other keys, then adds the new key. */
  @Actor
  public void change() {
    for (int i = 30; i < OTHERS; i++) {
      table.add(KEYS[i]);
      table.remove(KEYS[i - 20]);
    }
    table.add(KEYS[OTHERS]);
  }

  /** Looks up a key that is in the table all the time, and the new key. */
  @Actor
  public void find(II_Result result) {
    result.r1 = table.find(KEYS[0].value()) == KEYS[0] ? 1 : 0;
    KeyEntry found = table.find(KEYS[OTHERS].value());
    result.r2 =
        found == null ? 0 : found == KEYS[OTHERS] && found.contains(found.address(), 64) ? 1 : 2;
  }
}
