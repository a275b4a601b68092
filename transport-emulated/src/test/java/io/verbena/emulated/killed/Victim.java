// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.killed;

import io.verbena.emulated.Caller;
import java.net.URI;
import java.util.Random;

/**
 * A process that serves, and connects to other services again and again, until it is killed: {@code
 * Victim SEED OWN-SERVICE OTHER-SERVICE...}. Prints a line when it is ready.
 */
final class Victim {
  private Victim() {}

  /** Runs in the victim's process. */
  public static void main(String[] arguments) throws Exception {
    Random random = new Random(Long.parseLong(arguments[0]));
    URI own = URI.create(arguments[1]);
    EchoService service = new EchoService(own);
    System.out.println("ready");
    Thread served = new Thread(() -> serve(service), "service");
    served.setUncaughtExceptionHandler((thread, e) -> fail(e));
    served.start();
    try (Caller caller = new Caller(own)) {
      while (true) {
        URI other = URI.create(arguments[2 + random.nextInt(arguments.length - 2)]);
        Load load = Load.connect(caller, other, random);
        if (load == null) {
          // The service may be a victim that was killed.
          continue;
        }
        long end = System.nanoTime() + random.nextInt(3_000_000);
        boolean lives = true;
        while (lives && System.nanoTime() < end) {
          lives = load.step();
        }
        load.disconnect();
        load.end();
      }
    } catch (Throwable e) {
      fail(e);
    }
  }

  private static void serve(EchoService service) {
    try {
      service.run();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void fail(Throwable e) {
    e.printStackTrace();
    Runtime.getRuntime().halt(1);
  }
}
