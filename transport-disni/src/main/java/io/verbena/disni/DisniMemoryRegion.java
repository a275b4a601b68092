// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.Words.KeyWords;
import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.RegistrationLimits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A registered direct buffer ({@code ibv_reg_mr(3)}). Its {@link #address()} is the virtual address
 * of the memory. The region holds the buffer until it is deregistered.
 */
final class DisniMemoryRegion implements MemoryRegion {
  private static final int CHANGE_TRANSLATION = 1;
  private static final int CHANGE_DOMAIN = 2;
  private static final int CHANGE_ACCESS = 4;

  /**
   * Written under the monitor; volatile because a thread that posts a bind reads it without the
   * monitor.
   */
  private volatile DisniProtectionDomain domain;

  private ByteBuffer memory;
  private long address;
  private Set<Access> access;
  private int lkey;
  private int rkey;
  private final long pointer;
  private volatile boolean closed;

  DisniMemoryRegion(DisniProtectionDomain domain, ByteBuffer buffer, Set<Access> access) {
    this.domain = domain;
    this.access = Set.copyOf(access);
    memory = buffer.slice();
    address = Block.addressOf(memory);
    Block keys = new Block(3 * Integer.BYTES);
    long at = keys.address();
    try {
      pointer =
          domain
              .device()
              .core()
              .regMr(
                  domain.pointer(),
                  address,
                  memory.capacity(),
                  domain.device().accessFlags(access),
                  at,
                  at + Integer.BYTES,
                  at + 2 * Integer.BYTES);
    } catch (IOException e) {
      throw failure(e);
    }
    lkey = keys.bytes().getInt(0);
    rkey = keys.bytes().getInt(Integer.BYTES);
    // The context holds this object, and so the buffer, until the memory is deregistered: the
    // collector would free an unreachable buffer while the HCA uses it.
    domain.device().context().created(pointer, domain.device(), this);
  }

  private VerbsException failure(IOException e) {
    VerbsException failure =
        Errno.failure("register " + memory.capacity() + " bytes as " + access, e);
    return failure.error() == VerbsError.NO_MEMORY || failure.error() == VerbsError.NOT_PERMITTED
        ? LockedMemoryLimit.explain(memory.capacity(), failure)
        : failure;
  }

  long pointer() {
    return pointer;
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public DisniProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public synchronized long address() {
    return address;
  }

  @Override
  public synchronized long length() {
    return memory.capacity();
  }

  @Override
  public synchronized int lkey() {
    return lkey;
  }

  @Override
  public synchronized int rkey() {
    return access.contains(Access.REMOTE_READ)
            || access.contains(Access.REMOTE_WRITE)
            || access.contains(Access.REMOTE_ATOMIC)
        ? rkey
        : 0;
  }

  @Override
  public synchronized Set<Access> access() {
    return access;
  }

  @Override
  public synchronized void reregister(
      @Nullable ProtectionDomain newDomain,
      @Nullable ByteBuffer newBuffer,
      @Nullable Set<Access> newAccess) {
    domain.device().attributes().require(Capability.REREGISTRATION);
    if (closed) {
      throw new VerbsException(VerbsError.CLOSED, "reregister memory: the region is closed");
    }
    DisniProtectionDomain toDomain = newDomain == null ? domain : checkOurs(newDomain);
    ByteBuffer toMemory = newBuffer == null ? memory : newBuffer.slice();
    Set<Access> toAccess = newAccess == null ? access : Set.copyOf(newAccess);
    RegistrationLimits.check(toMemory, toAccess);
    long toAddress = Block.addressOf(toMemory);
    Block keys = Block.of(KeyWords.values());
    int flags =
        (newBuffer == null ? 0 : CHANGE_TRANSLATION)
            | (newDomain == null ? 0 : CHANGE_DOMAIN)
            | (newAccess == null ? 0 : CHANGE_ACCESS);
    boolean moves = toDomain != domain;
    if (moves) {
      // Before the native call: the count keeps the domain open while the call uses its pointer.
      toDomain.opened(DisniProtectionDomain.Kind.MEMORY_REGION);
    }
    int result =
        domain
            .device()
            .core()
            .reregister(
                pointer,
                flags,
                toDomain.pointer(),
                toAddress,
                toMemory.capacity(),
                // ibv_rereg_mr(3) refuses access flags without IBV_REREG_MR_CHANGE_ACCESS.
                newAccess == null ? 0 : domain.device().accessFlags(toAccess),
                keys.address());
    if (moves) {
      (result < 0 ? toDomain : domain).closed(DisniProtectionDomain.Kind.MEMORY_REGION);
    }
    Errno.check("reregister memory", result);
    domain = toDomain;
    memory = toMemory;
    address = toAddress;
    access = toAccess;
    lkey = keys.getInt(KeyWords.LKEY);
    rkey = keys.getInt(KeyWords.RKEY);
  }

  private DisniProtectionDomain checkOurs(ProtectionDomain other) {
    if (other instanceof DisniProtectionDomain ours && ours.device() == domain.device()) {
      return ours;
    }
    throw new VerbsException(
        VerbsError.INVALID, "reregister memory: the protection domain is another device's");
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    DisniContext context = domain.device().context();
    closed = true;
    context.posters().await();
    // Before deregistering: after it the pointer may belong to another region.
    context.destroyed(pointer);
    try {
      domain.device().core().deregMr(pointer);
    } catch (IOException e) {
      context.created(pointer, domain.device(), this);
      closed = false;
      throw Errno.failure("deregister memory", e);
    }
    domain.closed(DisniProtectionDomain.Kind.MEMORY_REGION);
  }
}
