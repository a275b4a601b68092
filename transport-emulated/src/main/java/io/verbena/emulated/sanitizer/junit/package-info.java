// SPDX-License-Identifier: Apache-2.0
/** The sanitizer for tests; it needs JUnit Jupiter on the class path of those who use it. */
@NullMarked
package io.verbena.emulated.sanitizer.junit;

import org.jspecify.annotations.NullMarked;
