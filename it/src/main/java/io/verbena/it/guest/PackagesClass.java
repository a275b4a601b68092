package io.verbena.it.guest;

import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.support.descriptor.AbstractTestDescriptor;
import org.junit.platform.engine.support.descriptor.ClassSource;

/**
 * A class that stands for the tests of packages, which are its children. The guest knows nothing of
 * it, and so they keep the ids that they have without it.
 */
final class PackagesClass extends AbstractTestDescriptor {
  PackagesClass(UniqueId engine, Class<?> holder) {
    super(
        engine.append("class", holder.getName()), holder.getSimpleName(), ClassSource.from(holder));
  }

  @Override
  public Type getType() {
    return Type.CONTAINER;
  }
}
