// SPDX-License-Identifier: Apache-2.0
/**
 * The TCK of verbs providers, as JUnit tests. A provider's module extends {@link
 * io.verbena.tck.VerbsTck} and returns the addresses of its devices. Each test asserts one rule of
 * the SPI or of the verbs specification. A capability that a device lacks according to its
 * attributes must fail with {@code NOT_SUPPORTED}.
 */
@NullMarked
package io.verbena.tck;

import org.jspecify.annotations.NullMarked;
