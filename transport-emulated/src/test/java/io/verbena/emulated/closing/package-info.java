// SPDX-License-Identifier: Apache-2.0
/** Objects of the emulated HCA are closed while other threads use them, and memory is lost. */
@NullMarked
package io.verbena.emulated.closing;

import org.jspecify.annotations.NullMarked;
