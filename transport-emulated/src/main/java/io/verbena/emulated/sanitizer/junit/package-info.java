// SPDX-License-Identifier: Apache-2.0
/** The sanitizer for tests; its users need JUnit Jupiter on their class path. */
@NullMarked
package io.verbena.emulated.sanitizer.junit;

import org.jspecify.annotations.NullMarked;
