// SPDX-License-Identifier: Apache-2.0
/** The properties of the HCA that tests on it need to know. */
@NullMarked
package io.verbena.core.testing;

import org.jspecify.annotations.NullMarked;
