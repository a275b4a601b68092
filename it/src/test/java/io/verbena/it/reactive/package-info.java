// SPDX-License-Identifier: Apache-2.0
/** The reactive layer on Soft-RoCE. */
@NullMarked
package io.verbena.it.reactive;

import org.jspecify.annotations.NullMarked;
