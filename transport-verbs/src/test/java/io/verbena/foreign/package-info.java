// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.foreign;

import org.jspecify.annotations.NullMarked;
