// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * The reason why a verb failed at once, with the {@code errno} that rdma-core returns in the same
 * place.
 */
public enum VerbsError {
  /** An argument, attribute or state that the verb does not take. */
  INVALID("EINVAL"),
  /** A queue is full or a limit of the device is reached. */
  NO_MEMORY("ENOMEM"),
  /** The object is still in use by another one. */
  BUSY("EBUSY"),
  /** The device cannot do this; its {@linkplain DeviceAttributes attributes} say so. */
  NOT_SUPPORTED("EOPNOTSUPP"),
  /** The object was closed. */
  CLOSED("EBADF"),
  /** No such device, or no device that reaches the address. */
  NO_DEVICE("ENODEV"),
  /** The address is already listened on. */
  ADDRESS_IN_USE("EADDRINUSE"),
  /** Memory that cannot be registered as asked. */
  FAULT("EFAULT"),
  /** The caller may not use the device or lock that much memory. */
  NOT_PERMITTED("EPERM"),
  /** The operating system's or the library's own failure, or a device that has failed. */
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
