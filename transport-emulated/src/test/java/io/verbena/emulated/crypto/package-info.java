// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.emulated.crypto;

import org.jspecify.annotations.NullMarked;
