package io.verbena.it.guest;

import java.util.Optional;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.support.descriptor.ClassSource;

/** What is asked of the class of a top-level descriptor. */
final class GuestClass {
  private GuestClass() {}

  static Optional<InSoftRoceGuest> annotation(TestDescriptor topLevel) {
    return topLevel
        .getSource()
        .filter(ClassSource.class::isInstance)
        .map(source -> ((ClassSource) source).getJavaClass())
        .flatMap(each -> AnnotationSupport.findAnnotation(each, InSoftRoceGuest.class));
  }

  /** How many nodes it asks for. */
  static int nodes(TestDescriptor topLevel) {
    int nodes =
        annotation(topLevel)
            .orElseThrow(() -> new IllegalArgumentException("not for the guest: " + topLevel))
            .nodes();
    if (nodes != 1 && nodes != 2) {
      throw new IllegalArgumentException(
          topLevel.getDisplayName() + ": nodes: " + nodes + " (expected: 1 or 2)");
    }
    return nodes;
  }
}
