// SPDX-License-Identifier: Apache-2.0
/** Tests that open and close devices, on the emulated HCA. */
@NullMarked
package io.verbena.core.device;

import org.jspecify.annotations.NullMarked;
