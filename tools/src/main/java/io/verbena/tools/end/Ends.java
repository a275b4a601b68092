package io.verbena.tools.end;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs a test's end: the server, the client, or both in this process. */
public final class Ends {
  private Ends() {}

  /** What an end does once the two have found each other over TCP. */
  @FunctionalInterface
  public interface Role {
    /**
     * Runs to its end.
     *
     * @param socket to the other end; the caller closes it
     * @param client whether it is the one that connected
     * @param told whether anybody reads what it prints
     */
    void run(Socket socket, boolean client, boolean told)
        throws IOException, ToolFailure, InterruptedException;
  }

  /**
   * Runs it.
   *
   * @param local whether both ends run here
   * @throws ToolFailure if it failed; of both ends, the server's failure only if the client has
   *     none
   */
  public static void run(Place place, boolean local, Role role)
      throws IOException, ToolFailure, InterruptedException {
    if (place.server() != null) {
      try (Socket socket = place.connect()) {
        role.run(socket, true, true);
      }
      return;
    }
    try (ServerSocket listening = place.listen(local)) {
      if (local) {
        both(place, listening, role);
        return;
      }
      try (Socket socket = place.accept(listening)) {
        role.run(socket, false, true);
      }
    }
  }

  private static void both(Place place, ServerSocket listening, Role role)
      throws IOException, ToolFailure, InterruptedException {
    CompletableFuture<Void> served = new CompletableFuture<>();
    Thread server =
        new Thread(
            () -> {
              try (Socket socket = place.accept(listening)) {
                role.run(socket, false, false);
                served.complete(null);
              } catch (Throwable e) {
                served.completeExceptionally(e);
              }
            },
            "server");
    server.setDaemon(true);
    server.start();
    try (Socket socket = place.clientOf(listening).connect()) {
      role.run(socket, true, true);
      served.get(place.limit().toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw unwrapped(e.getCause());
    } catch (TimeoutException e) {
      throw new ToolFailure(
          "the server did not end within " + place.limit().toSeconds() + " s", "");
    } catch (ToolFailure e) {
      throw served.isCompletedExceptionally() ? first(served, e) : e;
    } catch (IOException e) {
      // The client saw the server's end: what the server says tells why.
      throw first(served, e);
    }
  }

  private static <E extends Exception> E first(CompletableFuture<Void> served, E client)
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
    if (failure instanceof ToolFailure told) {
      return told;
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
