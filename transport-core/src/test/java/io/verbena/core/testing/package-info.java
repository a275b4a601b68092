// SPDX-License-Identifier: Apache-2.0
/** The properties of the HCA under test that tests depend on. */
@NullMarked
package io.verbena.core.testing;

import org.jspecify.annotations.NullMarked;
