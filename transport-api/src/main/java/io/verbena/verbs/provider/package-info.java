// SPDX-License-Identifier: Apache-2.0
/**
 * The classes that only implementers of a verbs provider, or of what stands directly under the
 * transports, need: limits and their checks, counts of open objects, transitions of queue pairs,
 * listeners. Programs never import this package; whatever a program calls is in {@link
 * io.verbena.verbs}. An architecture test keeps it to the providers, {@code transport-core} and the
 * TCK, and it may change with any version.
 */
@NullMarked
package io.verbena.verbs.provider;

import org.jspecify.annotations.NullMarked;
