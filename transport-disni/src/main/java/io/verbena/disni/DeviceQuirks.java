// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/**
 * The deviations of a driver from the others, for which this package has workarounds.
 *
 * @param flushesLate a request posted in ERR is flushed only when the queue pair is modified to ERR
 *     again
 * @param losesShortWaits a request that waits for a short RNR timer of the peer may never be
 *     retried
 * @param isIwarp queue pairs are TCP connections that the kernel sets up: there are no address
 *     vectors, no immediate data, no atomics, and no way back from SQD; the local buffer of a READ
 *     needs remote write access
 * @param neverFlushesLate a request posted in ERR is never flushed
 * @param tripsOverEmptyBuffers a send must not have an empty buffer beside a non-empty one, which
 *     crashes the kernel, and a receive must have at least one buffer
 * @param overtakesReads a request may complete before a READ that was posted earlier, unless it has
 *     a fence; READs start in order and must have no fence
 * @param readsIntoOneBuffer a READ has at most one buffer; the SPI has no counterpart of {@code
 *     ibv_device_attr.max_sge_rd}
 * @param hidesState {@code ibv_query_qp(3)} does not return the state of a queue pair
 * @param keepsOwnKeys LOCAL_INV is refused, although the device reports that it supports it
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
  /** {@code RXE_VENDOR_ID} of the kernel's {@code rxe_param.h}, used only by Soft-RoCE. */
  private static final int SOFT_ROCE = 0xff_ffff;

  /** Soft-RoCE in older kernels, which did not set a vendor; all RNICs set one. */
  private static final int OLDER_SOFT_ROCE = 0;

  /** {@code SIW_VENDOR_ID} of the kernel's {@code siw.h}, used only by Soft-iWARP. */
  private static final int SOFT_IWARP = 0x62_6d74;

  /** {@code IBV_TRANSPORT_IWARP}. */
  private static final int IWARP = 1;

  /**
   * Returns the quirks of a driver.
   *
   * @param vendor its {@code ibv_device_attr.vendor_id}
   * @param transport its {@code ibv_device.transport_type}
   */
  static DeviceQuirks of(int vendor, int transport) {
    boolean isIwarp = transport == IWARP;
    // librxe writes requests to shared memory, which the kernel reads only in RTS.
    boolean isSoftRoce = !isIwarp && (vendor == SOFT_ROCE || vendor == OLDER_SOFT_ROCE);
    // libsiw writes requests to shared memory too, and the kernel's siw_post_send flushes only the
    // requests that it gets directly.
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
