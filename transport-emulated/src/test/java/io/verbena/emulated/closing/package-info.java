// SPDX-License-Identifier: Apache-2.0
/** Tests that close objects while other threads use them, and tests of lost memory. */
@NullMarked
package io.verbena.emulated.closing;

import org.jspecify.annotations.NullMarked;
