// SPDX-License-Identifier: Apache-2.0
/** The JUnit extension of the sanitizer. It needs JUnit Jupiter on the class path of the tests. */
@NullMarked
package io.verbena.emulated.sanitizer.junit;

import org.jspecify.annotations.NullMarked;
