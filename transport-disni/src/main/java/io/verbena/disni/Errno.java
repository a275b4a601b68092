// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Error numbers of Linux, the same on all supported machines, and their {@link VerbsError}s. */
final class Errno {
  static final int EPERM = 1;
  static final int ENOENT = 2;
  static final int EIO = 5;
  static final int EAGAIN = 11;
  static final int ENOMEM = 12;
  static final int EACCES = 13;
  static final int EFAULT = 14;
  static final int EBUSY = 16;
  static final int ENODEV = 19;
  static final int EINVAL = 22;
  static final int ENOSYS = 38;
  static final int ENODATA = 61;
  static final int EOPNOTSUPP = 95;
  static final int EADDRINUSE = 98;
  static final int EADDRNOTAVAIL = 99;
  static final int ENETUNREACH = 101;
  static final int ECONNRESET = 104;
  static final int ENOTCONN = 107;
  static final int ETIMEDOUT = 110;
  static final int ECONNREFUSED = 111;
  static final int EHOSTUNREACH = 113;

  /** The end of a message of Verbena's {@code libdisni}; those of other builds have no number. */
  private static final Pattern NUMBER = Pattern.compile("\\[errno (\\d+)]\\s*$");

  private Errno() {}

  /** Returns the kind of failure that an error number stands for. */
  static VerbsError error(int errno) {
    return switch (errno) {
      case EINVAL, EADDRNOTAVAIL, ENETUNREACH, EHOSTUNREACH -> VerbsError.INVALID;
      case ENOMEM, EAGAIN -> VerbsError.NO_MEMORY;
      case EBUSY -> VerbsError.BUSY;
      case EOPNOTSUPP, ENOSYS -> VerbsError.NOT_SUPPORTED;
      case ENODEV, ENOENT -> VerbsError.NO_DEVICE;
      case EADDRINUSE -> VerbsError.ADDRESS_IN_USE;
      case EFAULT -> VerbsError.FAULT;
      case EPERM, EACCES -> VerbsError.NOT_PERMITTED;
      default -> VerbsError.IO;
    };
  }

  /** Returns the number in an exception of {@code libdisni}; 0 if it has none. */
  static int of(IOException failure) {
    Matcher number = NUMBER.matcher(String.valueOf(failure.getMessage()));
    return number.find() ? Integer.parseInt(number.group(1)) : 0;
  }

  /** Returns the exception for a verb that returned a negative errno. */
  static VerbsException failure(String verb, long negative) {
    int errno = (int) -negative;
    return new VerbsException(error(errno), verb + ": errno " + errno);
  }

  /** Returns the exception for a call of DiSNI that threw {@code cause}. */
  static VerbsException failure(String verb, IOException cause) {
    return new VerbsException(error(of(cause)), verb + ": " + cause.getMessage(), cause);
  }

  /** Throws {@link VerbsException} if {@code result} is negative, else returns it. */
  static int check(String verb, int result) {
    if (result < 0) {
      throw failure(verb, result);
    }
    return result;
  }

  /** Throws {@link VerbsException} if {@code result} is negative, else returns it. */
  static long check(String verb, long result) {
    if (result < 0) {
      throw failure(verb, result);
    }
    return result;
  }
}
