// SPDX-License-Identifier: Apache-2.0
/** Tests of Verbena on the module path. */
@NullMarked
package io.verbena.samples.modules;

import org.jspecify.annotations.NullMarked;
