// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Searches for an order of the calls on a register in which each call returns the value that its
 * client saw, and stands between its invocation and its end. The search is that of Wing and Gong
 * (Testing and Verifying Concurrent Objects, 1993), and skips sets of calls and values that it has
 * visited, after Lowe (Testing for Linearizability, 2017). Each register is checked on its own: a
 * history is linearizable if the history of each object is (Herlihy and Wing, 1990, Theorem 1).
 */
final class Linearizability {
  /** The answered calls on one register, by invocation. */
  private final List<Operation> answered;

  /** The calls without an answer, which may stand anywhere after their invocation, or nowhere. */
  private final List<Operation> unanswered;

  private State furthest = new State(0, new BitSet(), new BitSet(), 0);

  /**
   * The calls that are placed, and the value of the register after them.
   *
   * @param first the index of the first answered call that is not placed
   * @param ahead the placed answered calls after it, relative to {@code first}
   * @param taken the placed calls without an answer
   */
  private record State(int first, BitSet ahead, BitSet taken, long value) {

    State answered(int index, long after) {
      BitSet next = (BitSet) ahead.clone();
      next.set(index);
      int placed = next.nextClearBit(0);
      return new State(
          first + placed, next.get(placed, Math.max(placed, next.length())), taken, after);
    }

    State unanswered(int index, long after) {
      BitSet next = (BitSet) taken.clone();
      next.set(index);
      return new State(first, ahead, next, after);
    }
  }

  private Linearizability(List<Operation> calls) {
    answered =
        calls.stream()
            .filter(Operation::isAnswered)
            .sorted(Comparator.comparingLong(Operation::invoked))
            .toList();
    List<Operation> rest = calls.stream().filter(each -> !each.isAnswered()).toList();
    // An unanswered write whose value no call saw needs no place: it may never have taken effect.
    Set<Long> seen =
        Stream.concat(
                answered.stream().map(Operation::before),
                rest.stream().map(each -> each.request().expected()))
            .collect(Collectors.toSet());
    unanswered =
        rest.stream()
            .filter(each -> each.isWrite() && seen.contains(each.request().value()))
            .toList();
  }

  /** Returns a description of the violation for each register that has one. */
  static List<String> violations(List<Operation> history) {
    return history.stream()
        .collect(
            Collectors.groupingBy(
                each -> each.request().register(), TreeMap::new, Collectors.toList()))
        .values()
        .stream()
        .map(calls -> new Linearizability(calls).violation())
        .flatMap(Optional::stream)
        .toList();
  }

  private Optional<String> violation() {
    Deque<State> open = new ArrayDeque<>(List.of(furthest));
    Set<State> seen = new HashSet<>(open);
    while (!open.isEmpty()) {
      State state = open.pop();
      if (state.first == answered.size()) {
        return Optional.empty();
      }
      if (state.first > furthest.first) {
        furthest = state;
      }
      for (State next : successors(state)) {
        if (seen.add(next)) {
          open.push(next);
        }
      }
    }
    return Optional.of(
        "after %d of %d answered calls the register has %d, and next is one of %s"
            .formatted(
                furthest.first,
                answered.size(),
                furthest.value,
                next(furthest).stream().map(each -> answered.get(furthest.first + each)).toList()));
  }

  /** Returns the states after one more call; the search continues with the last. */
  private List<State> successors(State state) {
    List<Integer> next = next(state);
    List<State> successors = new ArrayList<>();
    for (int index : next) {
      Operation call = answered.get(state.first + index);
      if (call.before() == state.value) {
        long after = call.request().after(state.value);
        if (after == state.value) {
          // A call that leaves the value unchanged can be placed now: all others may follow it.
          return List.of(state.answered(index, after));
        }
        successors.add(state.answered(index, after));
      }
    }
    long firstEnd =
        next.stream()
            .mapToLong(each -> answered.get(state.first + each).ended())
            .min()
            .orElseThrow();
    for (int index = state.taken.nextClearBit(0);
        index < unanswered.size();
        index = state.taken.nextClearBit(index + 1)) {
      Operation call = unanswered.get(index);
      long after = call.request().after(state.value);
      if (call.invoked() <= firstEnd && after != state.value) {
        successors.add(0, state.unanswered(index, after));
      }
    }
    return successors;
  }

  /** Returns the answered calls that may be next: those invoked before any other one has ended. */
  private List<Integer> next(State state) {
    List<Integer> next = new ArrayList<>();
    long firstEnd = Long.MAX_VALUE;
    for (int index = 0;
        state.first + index < answered.size();
        index = state.ahead.nextClearBit(index + 1)) {
      Operation call = answered.get(state.first + index);
      if (call.invoked() > firstEnd) {
        break;
      }
      firstEnd = Math.min(firstEnd, call.ended());
      next.add(index);
    }
    return next;
  }
}
