// SPDX-License-Identifier: Apache-2.0
/** Tests of RoCEv2 and iWARP between containers on a Docker network, with faults at both ends. */
@NullMarked
package io.verbena.it.containers.hca;

import org.jspecify.annotations.NullMarked;
