// SPDX-License-Identifier: Apache-2.0
/**
 * What only those need who implement a verbs provider, or stand directly under the transports:
 * limits and their checks, counts of open objects, transitions of queue pairs, listeners. Programs
 * never import this package; whatever a program calls is in {@link io.verbena.verbs}. An
 * architecture test keeps it to the providers, {@code transport-core} and the TCK, and it may
 * change with any version.
 */
@NullMarked
package io.verbena.verbs.provider;

import org.jspecify.annotations.NullMarked;
