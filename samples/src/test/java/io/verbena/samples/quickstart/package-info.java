// SPDX-License-Identifier: Apache-2.0
/** The project that is there to be copied, which no build of ours has as a module. */
@NullMarked
package io.verbena.samples.quickstart;

import org.jspecify.annotations.NullMarked;
