// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.simulation.verbs;

import org.jspecify.annotations.NullMarked;
