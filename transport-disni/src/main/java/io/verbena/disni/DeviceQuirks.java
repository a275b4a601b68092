// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/**
 * What a device does otherwise than others, and what it takes to step round it.
 *
 * @param flushesLate a request that is posted in ERR is flushed only when the queue pair goes to
 *     ERR once more
 * @param losesShortWaits a request that waits for the peer's RNR timer may be left undone where
 *     that is short
 * @param isIwarp the queue pairs are streams of TCP, which the kernel connects: there are no ways
 *     to be set by hand, no immediate data, no atomics, and no state SQD to come back from; what a
 *     READ writes into the peer must be allowed to write
 */
record DeviceQuirks(boolean flushesLate, boolean losesShortWaits, boolean isIwarp) {
  /** {@code RXE_VENDOR_ID} of the kernel's {@code rxe_param.h}: of Soft-RoCE alone. */
  private static final int SOFT_ROCE = 0xff_ffff;

  /** The same in kernels that did not set it; no RNIC has none. */
  private static final int OLDER_SOFT_ROCE = 0;

  /** {@code IBV_TRANSPORT_IWARP}. */
  private static final int IWARP = 1;

  /**
   * Those of the driver that answers with this {@code ibv_device_attr.vendor_id}, and has this
   * {@code ibv_device.transport_type}.
   */
  static DeviceQuirks of(int vendor, int transport) {
    boolean isIwarp = transport == IWARP;
    // librxe writes a post into memory that the kernel looks at in RTS.
    boolean isSoftRoce = !isIwarp && (vendor == SOFT_ROCE || vendor == OLDER_SOFT_ROCE);
    return new DeviceQuirks(
        /* flushesLate= */ isSoftRoce, /* losesShortWaits= */ isSoftRoce, isIwarp);
  }
}
