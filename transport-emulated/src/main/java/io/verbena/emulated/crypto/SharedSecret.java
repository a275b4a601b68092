// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.crypto;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * A secret from a file that both ends of a connection have. Immutable. {@link #toString} does not
 * show its bytes.
 */
public final class SharedSecret {
  /** The least number of bytes: that of the derived keys. */
  public static final int LEAST = 32;

  public static final int MOST = 1024;

  private final byte[] secret;

  private SharedSecret(byte[] secret) {
    this.secret = secret;
  }

  /**
   * Returns a key with a copy of these bytes.
   *
   * @throws VerbsException {@code INVALID} if there are fewer than {@value #LEAST} bytes or more
   *     than {@value #MOST}
   */
  public static SharedSecret of(byte[] secret) {
    if (secret.length < LEAST || secret.length > MOST) {
      throw invalid("key", secret.length + " bytes", null);
    }
    return new SharedSecret(secret.clone());
  }

  /**
   * Reads a key, which is all bytes of a file.
   *
   * @throws VerbsException {@code INVALID} if the file cannot be read, or has fewer than {@value
   *     #LEAST} bytes or more than {@value #MOST}
   */
  public static SharedSecret read(String file) {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(Path.of(file))) {
      bytes = in.readNBytes(MOST + 1);
    } catch (IOException | InvalidPathException e) {
      throw invalid("key-file: " + file, e.toString(), e);
    }
    if (bytes.length < LEAST || bytes.length > MOST) {
      String length = bytes.length > MOST ? "more than " + MOST : Integer.toString(bytes.length);
      throw invalid("key-file: " + file, length + " bytes", null);
    }
    return new SharedSecret(bytes);
  }

  private static VerbsException invalid(String what, String found, Exception cause) {
    String expected = " (expected: a file of " + LEAST + " to " + MOST + " random bytes)";
    return new VerbsException(VerbsError.INVALID, what + ": " + found + expected, cause);
  }

  byte[] secret() {
    return secret;
  }

  @Override
  public String toString() {
    return "key";
  }
}
