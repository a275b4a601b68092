// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import org.jspecify.annotations.Nullable;

/** Watches the buffers of a work request from its post to its end. */
final class Pieces {
  private Pieces() {}

  /** Begins to watch a request that is about to be posted. */
  static void post(Posted request, WatchedDevice device, Report report) {
    for (Piece piece : request.pieces) {
      checkKey(request, piece.key, "lkey", device, report);
    }
    try {
      for (Piece piece : request.pieces) {
        WatchedRegion region = piece.region;
        if (region != null) {
          post(request, piece, region, report);
        }
      }
      if (request.isOutbound()) {
        request.remember();
      }
    } catch (IllegalStateException e) {
      report.add(freed(request, "when it was posted"));
    }
  }

  private static void post(Posted request, Piece piece, WatchedRegion region, Report report) {
    if (request.isInbound()) {
      if (!region.addInbound(piece)) {
        report.add(
            Finding.at(
                Finding.Kind.NOT_WATCHED,
                request.place,
                request
                    + ": the JVM has no memory left to watch its buffer in a region of "
                    + region.memory().capacity()
                    + " bytes; accesses before the completion are not detected"));
      }
    } else if (request.isOutbound()) {
      if (region.addOutbound(piece)) {
        report.add(
            Finding.at(
                Finding.Kind.RECEIVE_BUFFER_READ,
                request.place,
                request
                    + ": its payload was read from the buffer of a receive, READ or atomic that was"
                    + " still posted (expected: to be read once the completion was polled)"));
      }
    }
  }

  /** Reports a key that is dead. */
  static void checkKey(Posted request, int key, String name, WatchedDevice device, Report report) {
    CallSite death = device.deadKeys().place(key);
    if (death != null) {
      report.add(
          Finding.at(
              Finding.Kind.KEY_USED_AFTER_INVALIDATION,
              request.place,
              request + ": " + name + ": 0x" + Integer.toHexString(key) + " is dead",
              "the key died",
              death));
    }
  }

  /**
   * Stops watching a request.
   *
   * @param received the number of bytes that arrived in its buffers
   * @param report gets the findings; null to report nothing
   */
  static void finish(Posted request, int received, @Nullable Report report) {
    int left = received;
    for (Piece piece : request.pieces) {
      int here = Math.min(left, piece.length);
      left -= here;
      WatchedRegion region = piece.region;
      if (region == null) {
        continue;
      }
      if (!request.isInbound()) {
        region.removeOutbound(piece);
        continue;
      }
      WatchedRegion.Verdict verdict = region.finish(piece, here);
      if (report == null) {
        continue;
      }
      if (verdict == WatchedRegion.Verdict.WRITTEN) {
        report.add(
            Finding.at(
                Finding.Kind.RECEIVE_BUFFER_WRITTEN,
                request.place,
                request + ": the program wrote into its buffer before the completion was polled"));
      } else if (verdict == WatchedRegion.Verdict.FREED) {
        report.add(freed(request, "before its completion was polled"));
      }
    }
  }

  /** Stops watching a request that was dropped, whose completion may still be polled. */
  static void release(Posted request) {
    for (Piece piece : request.pieces) {
      WatchedRegion region = piece.region;
      if (region != null) {
        if (request.isInbound()) {
          region.finish(piece, 0);
        } else {
          region.removeOutbound(piece);
        }
      }
    }
  }

  /** Reports a payload that has changed since its post. */
  static void checkUnchanged(Posted request, Report report) {
    for (Piece piece : request.pieces) {
      WatchedRegion region = piece.region;
      if (region == null || region.isClosed() || region.isShared(piece)) {
        return;
      }
    }
    try {
      if (!request.isUnchanged()) {
        report.add(
            Finding.at(
                Finding.Kind.SEND_BUFFER_CHANGED,
                request.place,
                request + ": its buffer was changed between post and completion"));
      }
    } catch (IllegalStateException e) {
      report.add(freed(request, "before its completion was polled"));
    }
  }

  private static Finding freed(Posted request, String when) {
    return Finding.at(
        Finding.Kind.MEMORY_FREED_WHILE_POSTED,
        request.place,
        request + ": its memory was freed " + when);
  }
}
