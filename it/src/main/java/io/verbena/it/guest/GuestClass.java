// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.TestTag;
import org.junit.platform.engine.support.descriptor.ClassSource;

/** Reads the annotation by which the class of a top-level descriptor asks for a guest. */
final class GuestClass {
  private GuestClass() {}

  static Optional<InSoftRoceGuest> annotation(Optional<TestSource> topLevel) {
    return topLevel
        .filter(ClassSource.class::isInstance)
        .map(source -> ((ClassSource) source).getJavaClass())
        .flatMap(GuestClass::annotation);
  }

  static Optional<InSoftRoceGuest> annotation(Class<?> each) {
    return AnnotationSupport.findAnnotation(each, InSoftRoceGuest.class);
  }

  /** The tags that all tests of such a class have. */
  static Set<TestTag> tags(InSoftRoceGuest annotation) {
    TestTag nodes = TestTag.create("nodes-" + annotation.nodes());
    return annotation.machine() == GuestMachine.ANY
        ? Set.of(nodes)
        : Set.of(nodes, TestTag.create(annotation.machine().option()));
  }

  /** Returns whether it stands for the tests of packages. */
  static boolean standsForPackages(Class<?> each) {
    return annotation(each).map(annotation -> annotation.packages().length > 0).orElse(false);
  }

  /** The reasons for what it leaves out, by the full name of the class. */
  static Map<String, String> leftOut(InSoftRoceGuest annotation) {
    Map<String, String> reasons = new HashMap<>();
    for (LeftOut each : annotation.without()) {
      for (String test : each.tests()) {
        reasons.put(test, each.reason());
      }
    }
    return reasons;
  }

  /** The guest that it asks for. */
  static GuestKind kind(TestDescriptor topLevel) {
    InSoftRoceGuest annotation =
        annotation(topLevel.getSource())
            .orElseThrow(() -> new IllegalArgumentException("not for the guest: " + topLevel));
    int nodes = annotation.nodes();
    if (nodes != 1 && nodes != 2) {
      throw new IllegalArgumentException(
          topLevel.getDisplayName() + ": nodes: " + nodes + " (expected: 1 or 2)");
    }
    return new GuestKind(annotation.devices(), nodes, annotation.machine());
  }
}
