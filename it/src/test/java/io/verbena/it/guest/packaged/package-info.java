// SPDX-License-Identifier: Apache-2.0
/** A package of test classes for the engine; because of their names Surefire does not run them. */
@NullMarked
package io.verbena.it.guest.packaged;

import org.jspecify.annotations.NullMarked;
