// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import org.jspecify.annotations.Nullable;

/**
 * A scatter/gather entry of an outstanding work request. Its mutable fields are written under the
 * monitor of its region.
 */
final class Piece {
  final Posted posted;
  final long address;
  final int length;
  final int key;

  /** The region that contains it, or null if there is none: then the device will refuse it. */
  final @Nullable WatchedRegion region;

  /** True if the device uses the region's twin in its place. */
  boolean twinned;

  /** The bytes that the poison has replaced, or null without poison. */
  byte @Nullable [] original;

  /** True if other requests may change its bytes. */
  boolean shared;

  Piece(Posted posted, long address, int length, int key, @Nullable WatchedRegion region) {
    this.posted = posted;
    this.address = address;
    this.length = length;
    this.key = key;
    this.region = region;
  }

  long end() {
    return address + length;
  }

  boolean overlaps(Piece other) {
    return address < other.end() && other.address < end();
  }
}
