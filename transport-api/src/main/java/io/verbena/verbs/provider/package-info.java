// SPDX-License-Identifier: Apache-2.0
/**
 * Classes for implementers of verbs providers and of the layer directly under the transports:
 * limits and their checks, counts of open objects, transitions of queue pairs, listeners. Programs
 * never import this package; everything that a program calls is in {@link io.verbena.verbs}. An
 * architecture test keeps its use to the providers, {@code transport-core} and the TCK. It may
 * change with any version.
 */
@NullMarked
package io.verbena.verbs.provider;

import org.jspecify.annotations.NullMarked;
