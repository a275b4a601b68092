/**
 * What every verbs provider must do, as JUnit tests: a provider's module extends {@link
 * io.verbena.tck.VerbsTck} and names its addresses. Each test claims one sentence of the SPI or of
 * the verbs it follows; what a device says it cannot do must fail with {@code NOT_SUPPORTED}.
 */
@NullMarked
package io.verbena.tck;

import org.jspecify.annotations.NullMarked;
