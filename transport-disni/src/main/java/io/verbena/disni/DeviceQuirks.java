// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/**
 * What a driver does otherwise than others, and what it takes to step round it.
 *
 * @param flushesLate a request that is posted in ERR is flushed only when the queue pair goes to
 *     ERR once more
 */
record DeviceQuirks(boolean flushesLate) {
  /** {@code RXE_VENDOR_ID} of the kernel's {@code rxe_param.h}: of Soft-RoCE alone. */
  private static final int SOFT_ROCE = 0xff_ffff;

  /** The same in kernels that did not set it; no RNIC has none. */
  private static final int OLDER_SOFT_ROCE = 0;

  /** Those of the driver that answers with this {@code ibv_device_attr.vendor_id}. */
  static DeviceQuirks of(int vendor) {
    // librxe writes a post into memory that the kernel looks at in RTS.
    return new DeviceQuirks(/* flushesLate= */ vendor == SOFT_ROCE || vendor == OLDER_SOFT_ROCE);
  }
}
