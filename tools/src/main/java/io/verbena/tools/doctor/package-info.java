// SPDX-License-Identifier: Apache-2.0
/** Finds faults of a device and its surroundings, and says how to correct them. */
@NullMarked
package io.verbena.tools.doctor;

import org.jspecify.annotations.NullMarked;
