// SPDX-License-Identifier: Apache-2.0
/** Opening and closing of devices, on the emulated HCA. */
@NullMarked
package io.verbena.core.device;

import org.jspecify.annotations.NullMarked;
