// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The place where a program called a verb: the calling thread's frames outside the sanitizer. */
final class CallSite {
  private static final int MOST_FRAMES = 32;
  private static final StackWalker WALKER = StackWalker.getInstance();

  /**
   * The packages of the verbs and the sanitizer, whose frames are dropped from the top of the
   * stack.
   */
  private static final Set<String> BELOW =
      Set.of(CallSite.class.getPackageName(), "io.verbena.verbs", "io.verbena.emulated");

  /**
   * Prefixes of packages that are never the program's: those of libraries between the program and
   * the verbs, and of the code that starts the program.
   */
  private static final List<String> LAYERS =
      List.of(
          "io.verbena.core.",
          "io.verbena.reactor.",
          "io.verbena.netty.",
          "io.verbena.grpc.",
          "io.verbena.ratis.",
          "io.verbena.reactornetty.",
          "io.verbena.rsocket.",
          "io.verbena.springboot.",
          "io.verbena.vertx.",
          "reactor.",
          "io.netty.",
          "java.",
          "jdk.",
          "sun.",
          "org.junit.",
          "org.apache.maven.");

  private final List<StackWalker.StackFrame> frames;

  private CallSite(List<StackWalker.StackFrame> frames) {
    this.frames = frames;
  }

  /** Returns the place from which the sanitizer was called. */
  static CallSite here() {
    return new CallSite(
        WALKER.walk(
            all ->
                all.dropWhile(frame -> isBelow(frame.getClassName()))
                    .limit(MOST_FRAMES)
                    .collect(Collectors.toList())));
  }

  private static boolean isBelow(String className) {
    return BELOW.contains(className.substring(0, Math.max(0, className.lastIndexOf('.'))));
  }

  private static boolean isLayer(StackWalker.StackFrame frame) {
    return LAYERS.stream().anyMatch(frame.getClassName()::startsWith);
  }

  /**
   * Returns the innermost frame of the program, or the innermost of all frames if the program has
   * none.
   */
  StackTraceElement ofProgram() {
    for (StackWalker.StackFrame frame : frames) {
      if (!isLayer(frame)) {
        return frame.toStackTraceElement();
      }
    }
    return frames.isEmpty()
        ? new StackTraceElement("unknown", "unknown", null, -1)
        : frames.get(0).toStackTraceElement();
  }

  /** Returns the frames, innermost first, up to the outermost frame of the program. */
  List<StackTraceElement> trace() {
    int end = frames.size();
    while (end > 1 && isLayer(frames.get(end - 1))) {
      end--;
    }
    return frames.subList(0, end).stream()
        .map(StackWalker.StackFrame::toStackTraceElement)
        .toList();
  }
}
