// SPDX-License-Identifier: Apache-2.0
/** Dispatches the events of a device's connection manager. Does not depend on Reactor. */
@NullMarked
package io.verbena.core.cm;

import org.jspecify.annotations.NullMarked;
