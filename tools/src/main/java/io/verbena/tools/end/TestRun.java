// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import io.verbena.verbs.VerbsProviders;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Runs the server or the client of a test, or both in this process. */
public final class TestRun {
  private TestRun() {}

  /** The work of an end, once both ends are connected over TCP. */
  @FunctionalInterface
  public interface Role {
    /**
     * Runs to its end.
     *
     * @param socket to the other end; the caller closes it
     * @param client whether this end is the client
     * @param prints whether this end prints
     */
    void run(Socket socket, boolean client, boolean prints)
        throws IOException, ToolFailure, InterruptedException;

    /** Called when a server begins to wait for its client. */
    default void printWaiting() {}
  }

  /**
   * Runs it.
   *
   * @param local whether both ends run here
   * @throws ToolFailure if it failed; of both ends, the server's failure only if the client has
   *     none
   */
  public static void run(TestAddress address, boolean local, Role role)
      throws IOException, ToolFailure, InterruptedException {
    if (address.server() != null) {
      try (Socket socket = address.connect()) {
        role.run(socket, true, true);
      }
      return;
    }
    try (ServerSocket listening = address.listen(local)) {
      if (local) {
        both(address, listening, role);
        return;
      }
      // Fail early without the device, as the client may come much later.
      VerbsProviders.find(address.device()).open(address.device()).close();
      role.printWaiting();
      try (Socket socket = address.accept(listening)) {
        role.run(socket, false, true);
      }
    }
  }

  private static void both(TestAddress address, ServerSocket listening, Role role)
      throws IOException, ToolFailure, InterruptedException {
    CompletableFuture<@Nullable Void> served =
        ServerThread.start(
            () -> {
              try (Socket socket = address.accept(listening)) {
                role.run(socket, false, false);
              }
              return null;
            });
    try (Socket socket = address.clientOf(listening).connect()) {
      role.run(socket, true, true);
      served.get(address.limit().toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw unwrapped(e.getCause());
    } catch (TimeoutException e) {
      throw new ToolFailure(
          "the server did not end within " + address.limit().toSeconds() + " s", "");
    } catch (ToolFailure e) {
      throw served.isCompletedExceptionally() ? first(served, e) : e;
    } catch (IOException e) {
      // The client noticed that the server ended: the server's failure is the reason.
      throw first(served, e);
    }
  }

  private static <E extends Exception> E first(CompletableFuture<@Nullable Void> served, E client)
      throws IOException, ToolFailure, InterruptedException {
    try {
      served.get(1, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw unwrapped(e.getCause());
    } catch (TimeoutException e) {
      client.addSuppressed(e);
    }
    return client;
  }

  private static ToolFailure unwrapped(Throwable failure) throws IOException, InterruptedException {
    if (failure instanceof ToolFailure explained) {
      return explained;
    }
    if (failure instanceof IOException io) {
      throw io;
    }
    if (failure instanceof InterruptedException interrupted) {
      throw interrupted;
    }
    if (failure instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (failure instanceof Error error) {
      throw error;
    }
    throw new IllegalStateException(failure);
  }
}
