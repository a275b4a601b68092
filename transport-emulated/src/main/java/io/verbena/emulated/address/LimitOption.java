// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.address;

/**
 * The limits of an emulated device that an address of any scheme may lower. An address writes them
 * in lower case with dashes. Without the option the limit is the device's own.
 */
public enum LimitOption {
  MAX_QUEUE_PAIRS,
  MAX_WORK_REQUESTS,
  MAX_SCATTER_GATHER,
  MAX_INLINE_DATA,
  MAX_COMPLETION_QUEUES,
  MAX_COMPLETIONS,
  MAX_MEMORY_REGIONS,
  MAX_MEMORY_REGION_SIZE,
  MAX_PROTECTION_DOMAINS,
  MAX_MEMORY_WINDOWS,
  MAX_ADDRESS_HANDLES,
  MAX_SHARED_RECEIVE_QUEUES,
  MAX_SHARED_RECEIVE_REQUESTS,
  MAX_READ_ATOMIC,
  MAX_MESSAGE_SIZE;

  /** Returns the option's name as written in an address. */
  public String text() {
    return AddressOptions.text(this);
  }
}
