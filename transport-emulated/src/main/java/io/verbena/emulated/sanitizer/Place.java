package io.verbena.emulated.sanitizer;

import java.util.List;
import java.util.stream.Collectors;

/** Where a verb was called: the calling thread's frames outside the sanitizer. */
final class Place {
  private static final int MOST_FRAMES = 32;
  private static final String SANITIZER = Place.class.getPackageName();
  private static final StackWalker WALKER = StackWalker.getInstance();

  /** What lies between a program and the verbs, or under a program: never the program itself. */
  private static final List<String> LAYERS =
      List.of(
          "io.verbena.reactor.",
          "io.verbena.netty.",
          "io.verbena.rsocket.",
          "reactor.",
          "io.netty.",
          "java.",
          "jdk.",
          "sun.",
          "org.junit.",
          "org.apache.maven.");

  private final List<StackWalker.StackFrame> frames;

  private Place(List<StackWalker.StackFrame> frames) {
    this.frames = frames;
  }

  /** The place from which the sanitizer was called. */
  static Place here() {
    return new Place(
        WALKER.walk(
            all ->
                all.dropWhile(frame -> isSanitizer(frame.getClassName()))
                    .limit(MOST_FRAMES)
                    .collect(Collectors.toList())));
  }

  private static boolean isSanitizer(String className) {
    return className.lastIndexOf('.') == SANITIZER.length() && className.startsWith(SANITIZER);
  }

  /** The innermost frame of the program, or of whatever called if it is none of a program. */
  StackTraceElement ofProgram() {
    for (StackWalker.StackFrame frame : frames) {
      if (LAYERS.stream().noneMatch(frame.getClassName()::startsWith)) {
        return frame.toStackTraceElement();
      }
    }
    return frames.isEmpty()
        ? new StackTraceElement("unknown", "unknown", null, -1)
        : frames.get(0).toStackTraceElement();
  }

  List<StackTraceElement> trace() {
    return frames.stream().map(StackWalker.StackFrame::toStackTraceElement).toList();
  }
}
