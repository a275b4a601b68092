// SPDX-License-Identifier: Apache-2.0
/** Verbena on the module path. */
@NullMarked
package io.verbena.samples.modules;

import org.jspecify.annotations.NullMarked;
