// SPDX-License-Identifier: Apache-2.0
/** Finds what is wrong with a device and its surroundings, and advises what to do about it. */
@NullMarked
package io.verbena.tools.doctor;

import org.jspecify.annotations.NullMarked;
