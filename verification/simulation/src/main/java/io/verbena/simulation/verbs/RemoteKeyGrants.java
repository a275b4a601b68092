// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.simulation.scenario.Arena;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The remote key grants of one endpoint: the operations of its own program on them, and their use
 * by its peer.
 */
final class RemoteKeyGrants {
  private final ReliableEndpoint owner;
  private final VerbsSimulation simulation;

  /**
   * A type 2 window over the first register and the cell, one over the second register, and a
   * region over the third.
   */
  private final List<RemoteKeyGrant> grants;

  /**
   * The memory of the second register, which the region covers briefly before some reregistrations.
   */
  private final ByteBuffer otherMemory;

  RemoteKeyGrants(ReliableEndpoint owner, VerbsSimulation simulation, Arena arena) {
    this.owner = owner;
    this.simulation = simulation;
    int length = owner.maxLength();
    otherMemory = arena.memory.slice(owner.registers[1].at, length);
    grants =
        List.of(
            grant(arena, RemoteKeyGrant.Source.TYPE_2_WINDOW, 0, length + Long.BYTES),
            grant(arena, RemoteKeyGrant.Source.TYPE_2_WINDOW, 1, length),
            grant(arena, RemoteKeyGrant.Source.REGION, 2, length));
  }

  private RemoteKeyGrant grant(
      Arena arena, RemoteKeyGrant.Source source, int register, int length) {
    int at = owner.registers[register].at;
    MemoryRegion region = owner.region();
    return new RemoteKeyGrant(
        source, owner.domain(), region, owner.address(at), arena.memory.slice(at, length));
  }

  /** Returns the grant that an operation uses. */
  RemoteKeyGrant grantFor(Operation operation) {
    return switch (operation.kind()) {
      case BIND_TYPE_1_WINDOW, FETCH_ADD -> simulation.device(owner).type1Grant();
      case COMPARE_SWAP, READ_CELL -> grants.get(0);
      default -> grants.get(operation.target() % grants.size());
    };
  }

  // ---- operations of the owner

  /**
   * Returns whether to post a work request for an operation. Executes operations that need none.
   */
  boolean mayPost(Operation operation) {
    RemoteKeyGrant grant = grantFor(operation);
    KeyLifetime key = grant.key();
    return switch (operation.kind()) {
      case GRANT_KEY -> {
        if (grant.source != RemoteKeyGrant.Source.REGION) {
          yield grant.mayGrant();
        }
        if (grant.mayGrant()) {
          simulation.trace("register", owner, operation);
          grant.register(operation.offset() % 2 == 0 ? otherMemory : null);
        }
        yield false;
      }
      case BIND_TYPE_1_WINDOW -> grant.mayGrant() && mayRevoke(key, operation);
      case LOCAL_INVALIDATE -> key != null && key.isValid() && mayRevoke(key, operation);
      case DEALLOCATE -> {
        if (key != null && key.isValid() && mayRevoke(key, operation)) {
          simulation.trace("deallocate", owner, operation);
          grant.close();
        }
        yield false;
      }
      case REREGISTER -> {
        if (operation.offset() % 5 == 0) {
          requireBusy();
        } else if (key != null && key.isValid() && mayRevoke(key, operation)) {
          simulation.trace("reregister", owner, operation);
          reregister(grant, operation.offset());
        }
        yield false;
      }
      default -> true;
    };
  }

  private void reregister(RemoteKeyGrant grant, int variant) {
    if (variant % 4 == 0) {
      grant.moveTo(simulation.device(owner).otherDomain());
    } else {
      grant.reregister(variant % 2 != 0, variant % 4 > 1);
    }
  }

  /** Checks that a region with a bound window cannot be reregistered. */
  private void requireBusy() {
    if (type2Key() == null) {
      return;
    }
    VerbsError error = null;
    try {
      owner.region().reregister(null, null, owner.region().access());
    } catch (VerbsException e) {
      error = e.error();
    }
    owner.require(error == VerbsError.BUSY, "reregistered with a bound window", owner.region());
  }

  /** A careful program revokes a key only while its peer has no outstanding use of it. */
  private static boolean mayRevoke(@Nullable KeyLifetime key, Operation operation) {
    return key == null || key.outstandingUses == 0 || operation.isCareless();
  }

  void close() {
    grants.forEach(RemoteKeyGrant::close);
  }

  // ---- operations of the peer

  /**
   * Returns the key for an operation to use, or null for the key of the region. A careless program
   * also uses keys that are being revoked.
   */
  @Nullable KeyLifetime keyFor(Operation operation) {
    if (!operation.byGrantedKey() || operation.length() == 0) {
      return null;
    }
    KeyLifetime key = grantFor(operation).key();
    boolean reads =
        operation.kind() == OperationKind.READ || operation.kind() == OperationKind.READ_CELL;
    if (key == null || (key.readOnly && !reads)) {
      return null;
    }
    return key.isValid() || (key.isRevoking() && !key.isRevoked() && operation.isCareless())
        ? key
        : null;
  }

  /** Returns a key that does not permit writing or was revoked, or null if there is none. */
  @Nullable KeyLifetime invalidKeyFor(Operation operation) {
    KeyLifetime found = null;
    for (int i = 0; i < grants.size(); i++) {
      RemoteKeyGrant grant = grants.get((operation.target() + i) % grants.size());
      KeyLifetime key = grant.key();
      if (key != null && key.readOnly && operation.offset() % 2 == 0) {
        return key;
      }
      KeyLifetime revoked = grant.revokedKey();
      found = found == null ? revoked : found;
    }
    return found;
  }

  /** Returns a valid key of a type 2 window, or null if there is none. */
  @Nullable KeyLifetime type2Key() {
    for (RemoteKeyGrant grant : grants) {
      KeyLifetime key = grant.validType2Key();
      if (key != null) {
        return key;
      }
    }
    return null;
  }
}
