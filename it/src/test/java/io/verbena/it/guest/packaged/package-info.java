// SPDX-License-Identifier: Apache-2.0
/** A package of test classes for the engine; their names keep Surefire from taking them. */
@NullMarked
package io.verbena.it.guest.packaged;

import org.jspecify.annotations.NullMarked;
