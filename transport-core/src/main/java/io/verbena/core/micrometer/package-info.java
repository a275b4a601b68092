// SPDX-License-Identifier: Apache-2.0
/**
 * Meters for Micrometer, an optional dependency: nothing else of Verbena needs these classes, and a
 * program without Micrometer never loads them. Names, units and tags are listed in {@link
 * io.verbena.core.micrometer.VerbenaMeters}.
 */
@NullMarked
package io.verbena.core.micrometer;

import org.jspecify.annotations.NullMarked;
