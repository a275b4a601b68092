// SPDX-License-Identifier: Apache-2.0
/** What tests on an HCA need to know of it. */
@NullMarked
package io.verbena.core.testing;

import org.jspecify.annotations.NullMarked;
