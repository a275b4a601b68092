// SPDX-License-Identifier: Apache-2.0
/** The HCA's objects, apart from how requests travel. */
@NullMarked
package io.verbena.emulated.hca;

import org.jspecify.annotations.NullMarked;
