// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.EnumMap;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * Counts an owner's open objects of each kind, and checks the counts against limits. Thread-safe.
 *
 * @param <K> the kinds, whose names appear in errors
 */
public final class OpenCount<K extends Enum<K>> {
  private final EnumMap<K, Integer> open;
  private boolean closed;

  /** Creates counts of 0 for these kinds. */
  public OpenCount(Class<K> kinds) {
    open = new EnumMap<>(kinds);
  }

  /**
   * Counts one more object.
   *
   * @throws VerbsException {@code CLOSED} if the owner is closed, {@code NO_MEMORY} beyond the
   *     limit
   */
  public synchronized void opened(K kind, int limit) {
    if (closed) {
      throw new VerbsException(VerbsError.CLOSED, "create " + name(kind) + ": its owner is closed");
    }
    int now = open.getOrDefault(kind, 0);
    if (now >= limit) {
      throw new VerbsException(
          VerbsError.NO_MEMORY, name(kind) + "s: " + (now + 1) + " (expected: <= " + limit + ")");
    }
    open.put(kind, now + 1);
  }

  /**
   * Creates an object with {@code creation} and counts it; a creation that fails is not counted.
   *
   * @param creation makes the object, or fails and leaves nothing behind
   * @return the object
   * @throws VerbsException as {@link #opened}, before anything is made
   */
  public <T> T create(K kind, int limit, Supplier<T> creation) {
    opened(kind, limit);
    boolean created = false;
    try {
      T object = creation.get();
      created = true;
      return object;
    } finally {
      if (!created) {
        closed(kind);
      }
    }
  }

  /** Counts one object less. */
  public synchronized void closed(K kind) {
    open.merge(kind, -1, Integer::sum);
  }

  /**
   * Closes the owner; returns false if it was closed before.
   *
   * @param owner the name of the owner, for the error
   * @throws VerbsException {@code BUSY}, naming the open objects
   */
  public boolean close(String owner) {
    return close(owner, () -> {});
  }

  /**
   * Runs {@code release} and closes the owner, which stays open if {@code release} throws; returns
   * false if the owner was closed before.
   *
   * @param owner the name of the owner, for the error
   * @param release frees the owner's resources; no object is opened meanwhile
   * @throws VerbsException {@code BUSY}, naming the open objects; also any exception of {@code
   *     release}
   */
  public synchronized boolean close(String owner, Runnable release) {
    if (closed) {
      return false;
    }
    StringBuilder left = new StringBuilder();
    open.forEach(
        (kind, count) -> {
          if (count > 0) {
            left.append(left.isEmpty() ? "" : ", ").append(count).append(' ').append(name(kind));
          }
        });
    if (!left.isEmpty()) {
      throw new VerbsException(VerbsError.BUSY, "close " + owner + ": still open: " + left);
    }
    release.run();
    closed = true;
    return true;
  }

  /** Returns whether the owner is closed. */
  public synchronized boolean isClosed() {
    return closed;
  }

  private static String name(Enum<?> kind) {
    return kind.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
