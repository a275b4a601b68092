// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * The reason why a verb failed at once, with the {@code errno} that rdma-core returns in that case.
 */
public enum VerbsError {
  /** An argument, attribute or state is invalid for the verb. */
  INVALID("EINVAL"),
  /** A queue is full or a limit of the device is reached. */
  NO_MEMORY("ENOMEM"),
  /** The object is still in use by another one. */
  BUSY("EBUSY"),
  /** The device does not support this; see its {@linkplain DeviceAttributes attributes}. */
  NOT_SUPPORTED("EOPNOTSUPP"),
  /** The object was closed. */
  CLOSED("EBADF"),
  /** No such device, or no device that reaches the address. */
  NO_DEVICE("ENODEV"),
  /** The address already has a listener. */
  ADDRESS_IN_USE("EADDRINUSE"),
  /** The memory cannot be registered as requested. */
  FAULT("EFAULT"),
  /** The caller may not use the device or lock that much memory. */
  NOT_PERMITTED("EPERM"),
  /** The operating system or the library failed, or the device has failed. */
  IO("EIO");

  private final String errno;

  VerbsError(String errno) {
    this.errno = errno;
  }

  /** Returns the symbolic {@code errno}, for example {@code EINVAL}. */
  public String errno() {
    return errno;
  }
}
