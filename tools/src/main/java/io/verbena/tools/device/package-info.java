// SPDX-License-Identifier: Apache-2.0
/** Lists devices and their attributes. */
@NullMarked
package io.verbena.tools.device;

import org.jspecify.annotations.NullMarked;
