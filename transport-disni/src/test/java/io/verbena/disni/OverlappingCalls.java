// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/**
 * A program for the thread sanitizer: two threads increment a native counter that has no lock in
 * native code.
 */
final class OverlappingCalls {
  private static final int CALLS = 1000;

  private OverlappingCalls() {}

  /**
   * With an argument both threads call at the same time; without one, Java's lock serializes them.
   */
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

  /** Adds once when both threads are in the call. */
  private static native void countTogether();
}
