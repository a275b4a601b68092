// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.emulated.cm.local;

import org.jspecify.annotations.NullMarked;
