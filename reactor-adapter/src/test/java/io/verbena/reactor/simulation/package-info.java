/** The transport without threads, in virtual time: runs that are pure functions of their seed. */
@org.jspecify.annotations.NullMarked
package io.verbena.reactor.simulation;
