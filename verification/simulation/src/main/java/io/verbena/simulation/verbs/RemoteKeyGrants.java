package io.verbena.simulation.verbs;

import io.verbena.simulation.scenario.Arena;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What an end gives its peer keys for, and what their programs do with those. */
final class RemoteKeyGrants {
  private final ReliableEndpoint owner;
  private final VerbsSimulation world;

  /**
   * A window over the first register and the cell, one over the second, a region over the third.
   */
  private final List<RemoteKeyGrant> own;

  /** What the region leads to for a moment now and then: the second register. */
  private final ByteBuffer elsewhere;

  RemoteKeyGrants(ReliableEndpoint owner, VerbsSimulation world, Arena arena) {
    this.owner = owner;
    this.world = world;
    elsewhere = arena.memory.slice(owner.registers[1].at, VerbsScenario.MAX_LENGTH);
    own =
        List.of(
            door(arena, RemoteKeyGrant.Sort.OWN_WINDOW, 0, VerbsScenario.MAX_LENGTH + Long.BYTES),
            door(arena, RemoteKeyGrant.Sort.OWN_WINDOW, 1, VerbsScenario.MAX_LENGTH),
            door(arena, RemoteKeyGrant.Sort.REGION, 2, VerbsScenario.MAX_LENGTH));
  }

  private RemoteKeyGrant door(Arena arena, RemoteKeyGrant.Sort sort, int register, int length) {
    int at = owner.registers[register].at;
    MemoryRegion region = owner.region();
    return new RemoteKeyGrant(
        sort, owner.domain(), region, owner.address(at), arena.memory.slice(at, length));
  }

  /** The one that an operation is about. */
  RemoteKeyGrant of(Operation operation) {
    return switch (operation.kind()) {
      case BIND_ANEW, FETCH_ADD -> world.device(owner).hatch();
      case COMPARE_SWAP -> own.get(0);
      default -> own.get(operation.target() % own.size());
    };
  }

  // ---- for their owner

  /** Whether there is something to post; what needs no request is done. */
  boolean mayPost(Operation operation) {
    RemoteKeyGrant door = of(operation);
    KeyLifetime life = door.life();
    return switch (operation.kind()) {
      case OPEN -> {
        if (door.sort != RemoteKeyGrant.Sort.REGION) {
          yield door.mayOpen();
        }
        if (door.mayOpen()) {
          world.trace("register", owner, operation);
          door.register(operation.offset() % 2 == 0 ? elsewhere : null);
        }
        yield false;
      }
      case BIND_ANEW -> door.mayOpen() && mayEnd(life, operation);
      case INVALIDATE -> life != null && life.isSure() && mayEnd(life, operation);
      case DEALLOCATE -> {
        if (life != null && life.isSure() && mayEnd(life, operation)) {
          world.trace("deallocate", owner, operation);
          door.close();
        }
        yield false;
      }
      case REREGISTER -> {
        if (operation.offset() % 5 == 0) {
          requireBusy();
        } else if (life != null && life.isSure() && mayEnd(life, operation)) {
          world.trace("reregister", owner, operation);
          reregister(door, operation.offset());
        }
        yield false;
      }
      default -> true;
    };
  }

  private void reregister(RemoteKeyGrant door, int how) {
    if (how % 4 == 0) {
      door.banish(world.device(owner).otherDomain());
    } else {
      door.reregister(how % 2 != 0, how % 4 > 1);
    }
  }

  /** What a window is bound to cannot become something else. */
  private void requireBusy() {
    if (window() == null) {
      return;
    }
    VerbsError error = null;
    try {
      owner.region().reregister(null, null, owner.region().access());
    } catch (VerbsException e) {
      error = e.error();
    }
    owner.require(error == VerbsError.BUSY, "registered anew with a window bound", owner.region());
  }

  /** A program waits until its peer does not use a key any more, or does not. */
  private static boolean mayEnd(@Nullable KeyLifetime life, Operation operation) {
    return life == null || life.uses == 0 || operation.isRash();
  }

  void close() {
    own.forEach(RemoteKeyGrant::close);
  }

  // ---- for the peer

  /** The key to use, if that is asked for and it is good, or the program is rash. */
  @Nullable KeyLifetime enter(Operation operation) {
    if (!operation.byDoor() || operation.length() == 0) {
      return null;
    }
    KeyLifetime life = of(operation).life();
    if (life == null || (life.readOnly && operation.kind() != OperationKind.READ)) {
      return null;
    }
    return life.isSure() || (life.isEnding() && !life.isOver() && operation.isRash()) ? life : null;
  }

  /** A key that gives no right to write, or opens nothing more. */
  @Nullable KeyLifetime dead(Operation operation) {
    KeyLifetime found = null;
    for (int i = 0; i < own.size(); i++) {
      RemoteKeyGrant door = own.get((operation.target() + i) % own.size());
      KeyLifetime life = door.life();
      if (life != null && life.readOnly && operation.offset() % 2 == 0) {
        return life;
      }
      KeyLifetime dead = door.dead();
      found = found == null ? dead : found;
    }
    return found;
  }

  /** A key of a window that only the peer can use, if there is one now. */
  @Nullable KeyLifetime window() {
    for (RemoteKeyGrant door : own) {
      KeyLifetime life = door.windowLife();
      if (life != null) {
        return life;
      }
    }
    return null;
  }
}
