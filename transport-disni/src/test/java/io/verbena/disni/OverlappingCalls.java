// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/**
 * Two threads that add to a number of native code, which nothing guards there: a program for the
 * thread sanitizer.
 */
final class OverlappingCalls {
  private static final int CALLS = 1000;

  private OverlappingCalls() {}

  /** Both threads call at the same time if an argument is given, and one after the other if not. */
  public static void main(String[] arguments) throws InterruptedException {
    FakeRdmaCore.assumeLoaded();
    Thread other = new Thread(() -> callSome(arguments));
    other.start();
    callSome(arguments);
    other.join();
    System.out.println("ended");
  }

  private static void callSome(String[] arguments) {
    if (arguments.length > 0) {
      countTogether();
      return;
    }
    for (int i = 0; i < CALLS; i++) {
      synchronized (OverlappingCalls.class) {
        count();
      }
    }
  }

  private static native void count();

  /** Adds once both threads are in it. */
  private static native void countTogether();
}
