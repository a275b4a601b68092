// SPDX-License-Identifier: Apache-2.0
/**
 * Flight Recorder events of connections. While they are not recorded, each costs the check of a
 * field.
 */
@NullMarked
package io.verbena.core.event;

import org.jspecify.annotations.NullMarked;
