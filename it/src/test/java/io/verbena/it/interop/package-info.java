// SPDX-License-Identifier: Apache-2.0
/** The providers against programs that are not ours, by their own protocols. */
@NullMarked
package io.verbena.it.interop;

import org.jspecify.annotations.NullMarked;
