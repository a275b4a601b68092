// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/**
 * The deviations of a device from others, and what it takes to step round them.
 *
 * @param flushesLate a request that is posted in ERR is flushed only when the queue pair goes to
 *     ERR once more
 * @param losesShortWaits a request that waits for the peer's RNR timer may be left undone where
 *     that is short
 * @param isIwarp the queue pairs are streams of TCP, which the kernel connects: there are no ways
 *     to be set by hand, no immediate data, no atomics, and no state SQD to come back from; what a
 *     READ writes into the peer must be allowed to write
 * @param neverFlushesLate a request that is posted in ERR is not flushed at all
 * @param tripsOverEmptyBuffers a send with bytes must not have a buffer without, of which the
 *     kernel dies, and a receive must have one
 * @param overtakesReads a request completes before a READ that was posted earlier, unless it has a
 *     fence; a READ itself must have none, and begins in its order
 * @param readsIntoOneBuffer a READ has one buffer, however many a request may have: {@code
 *     ibv_device_attr.max_sge_rd} is no limit of the SPI
 * @param hidesState the state of a queue pair is not told to who asks for it
 * @param keepsOwnKeys no LOCAL_INV is taken, whatever the device says of it
 */
record DeviceQuirks(
    boolean flushesLate,
    boolean losesShortWaits,
    boolean isIwarp,
    boolean neverFlushesLate,
    boolean tripsOverEmptyBuffers,
    boolean overtakesReads,
    boolean readsIntoOneBuffer,
    boolean hidesState,
    boolean keepsOwnKeys) {
  /** {@code RXE_VENDOR_ID} of the kernel's {@code rxe_param.h}: of Soft-RoCE alone. */
  private static final int SOFT_ROCE = 0xff_ffff;

  /** The same in kernels that did not set it; no RNIC has none. */
  private static final int OLDER_SOFT_ROCE = 0;

  /** {@code SIW_VENDOR_ID} of the kernel's {@code siw.h}: of Soft-iWARP alone. */
  private static final int SOFT_IWARP = 0x62_6d74;

  /** {@code IBV_TRANSPORT_IWARP}. */
  private static final int IWARP = 1;

  /**
   * Returns the quirks of the driver that answers with this {@code ibv_device_attr.vendor_id}, and
   * has this {@code ibv_device.transport_type}.
   */
  static DeviceQuirks of(int vendor, int transport) {
    boolean isIwarp = transport == IWARP;
    // librxe writes a post into memory that the kernel looks at in RTS.
    boolean isSoftRoce = !isIwarp && (vendor == SOFT_ROCE || vendor == OLDER_SOFT_ROCE);
    // libsiw too writes a post into such memory, and siw_post_send flushes what it is given alone.
    boolean isSoftIwarp = isIwarp && vendor == SOFT_IWARP;
    return new DeviceQuirks(
        /* flushesLate= */ isSoftRoce,
        /* losesShortWaits= */ isSoftRoce,
        isIwarp,
        /* neverFlushesLate= */ isSoftIwarp,
        /* tripsOverEmptyBuffers= */ isSoftIwarp,
        /* overtakesReads= */ isSoftIwarp,
        /* readsIntoOneBuffer= */ isSoftIwarp,
        /* hidesState= */ isSoftIwarp,
        /* keepsOwnKeys= */ isSoftIwarp);
  }
}
