// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.engine.TestTag;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.support.descriptor.AbstractTestDescriptor;
import org.junit.platform.engine.support.descriptor.ClassSource;

/**
 * A class that stands for the tests of packages, which are its children. The guest knows nothing of
 * it, and so they keep the ids that they have without it.
 */
final class PackagesClass extends AbstractTestDescriptor {
  private final Set<TestTag> tags;

  PackagesClass(UniqueId engine, Class<?> holder, InSoftRoceGuest annotation) {
    super(
        engine.append("class", holder.getName()), holder.getSimpleName(), ClassSource.from(holder));
    tags =
        Stream.concat(
                GuestClass.tags(annotation).stream(),
                AnnotationSupport.findRepeatableAnnotations(holder, Tag.class).stream()
                    .map(each -> TestTag.create(each.value())))
            .collect(Collectors.toUnmodifiableSet());
  }

  @Override
  public Set<TestTag> getTags() {
    return tags;
  }

  @Override
  public Type getType() {
    return Type.CONTAINER;
  }
}
