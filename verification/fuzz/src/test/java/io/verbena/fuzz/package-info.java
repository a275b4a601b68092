// SPDX-License-Identifier: Apache-2.0
/** The short fuzzing run: inputs kept from long runs, and thousands of mutations of them. */
@NullMarked
package io.verbena.fuzz;

import org.jspecify.annotations.NullMarked;
