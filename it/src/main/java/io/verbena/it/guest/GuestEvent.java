// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.launcher.TestIdentifier;

/**
 * An event that the guest reports of a run, one line each: serialized, in Base64. Both sides run
 * the same class path. Tests are named by the unique id that the Jupiter engine gave them.
 */
sealed interface GuestEvent extends Serializable {
  /** The guest's JVM is up, and runs tests from now on. */
  record Ready() implements GuestEvent {}

  /** A test came up while its parent ran, such as an invocation of a parameterized test. */
  record Registered(String parent, TestIdentifier test) implements GuestEvent {}

  record Started(String test) implements GuestEvent {}

  record Finished(String test, Status status, @Nullable ThrownInGuest thrown)
      implements GuestEvent {
    private static final long serialVersionUID = 1;
  }

  record Skipped(String test, String reason) implements GuestEvent {}

  record Reported(String test, Map<String, String> entries) implements GuestEvent {
    private static final long serialVersionUID = 1;
  }

  /**
   * The Jupiter engine itself failed, such as at discovery: tests that have not ended never will.
   */
  record EngineFailed(ThrownInGuest thrown) implements GuestEvent {
    private static final long serialVersionUID = 1;
  }

  /** All tests have been run. */
  record Done() implements GuestEvent {}

  default String toLine() {
    var bytes = new ByteArrayOutputStream();
    try (var out = new ObjectOutputStream(bytes)) {
      out.writeObject(this);
    } catch (IOException e) {
      throw new UncheckedIOException("event: " + this, e);
    }
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  static GuestEvent of(String line) {
    try (var in =
        new ObjectInputStream(new ByteArrayInputStream(Base64.getDecoder().decode(line)))) {
      return (GuestEvent) in.readObject();
    } catch (IOException e) {
      throw new UncheckedIOException("event: " + line, e);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("event of another class path: " + line, e);
    }
  }
}
