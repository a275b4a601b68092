// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.retry.RetryPolicy;
import org.apache.ratis.util.IOUtils;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;

/**
 * A program whose callers write and read registers until a file exists, and record each call. Half
 * of the callers use the asynchronous interface, in order, and retry as long as necessary; the
 * others use the blocking interface, and give up. Some read at one server, each caller at another.
 * In the end each register is read at each server.
 */
public final class RegisterClient {
  /** Precedes the numbers of answered writes, and of answered reads at each server. */
  public static final String ANSWERED = "answered: ";

  /** The name of the count of writes in such a line. */
  static final String WRITES = "writes";

  private static final String ANYWHERE = "leader";
  private static final int REGISTERS = 5;
  private static final int CALLERS = 6;
  private static final int PAUSE_MILLIS = 2;
  private static final int PERIOD_MILLIS = 100;

  private static final TimeDuration BETWEEN_ATTEMPTS =
      TimeDuration.valueOf(100, TimeUnit.MILLISECONDS);

  /** The attempts of a hasty call: few enough that some calls are never answered. */
  private static final int ATTEMPTS = 2;

  /** The time limit of a patient call: longer than any fault. */
  private static final int LIMIT_SECONDS = 120;

  private final RaftClient patient;
  private final RaftClient hasty;
  private final PrintWriter history;
  private final List<RaftPeerId> servers;
  private final AtomicLong values = new AtomicLong();
  private final Map<Integer, Long> lastSeen = new ConcurrentHashMap<>();
  private final Map<String, AtomicLong> counts = new ConcurrentHashMap<>();

  private RegisterClient(
      RaftClient patient, RaftClient hasty, RaftGroup group, PrintWriter history) {
    this.patient = patient;
    this.hasty = hasty;
    this.history = history;
    servers =
        group.getPeers().stream()
            .map(RaftPeer::getId)
            .sorted(Comparator.comparing(RaftPeerId::toString))
            .toList();
    servers.forEach(each -> counts.put(each.toString(), new AtomicLong()));
    counts.put(ANYWHERE, new AtomicLong());
    counts.put(WRITES, new AtomicLong());
  }

  /**
   * Runs the program: the URI of the HCA, the file of the history, the file whose presence ends the
   * calls, and all servers as id=host:port.
   */
  public static void main(String[] args) throws Exception {
    RaftGroup group = RegisterGroup.of(Stream.of(args).skip(3));
    try (RaftClient patient =
            client(args[0], group, RetryPolicies.retryForeverWithSleep(BETWEEN_ATTEMPTS));
        RaftClient hasty =
            client(
                args[0],
                group,
                RetryPolicies.retryUpToMaximumCountWithFixedSleep(ATTEMPTS, BETWEEN_ATTEMPTS));
        PrintWriter history = new PrintWriter(Files.newBufferedWriter(Path.of(args[1])))) {
      new RegisterClient(patient, hasty, group, history).run(Path.of(args[2]));
      if (history.checkError()) {
        throw new IOException(args[1] + ": cannot be written");
      }
    }
  }

  private static RaftClient client(String hca, RaftGroup group, RetryPolicy retries) {
    return RaftClient.newBuilder()
        .setProperties(RegisterGroup.properties(hca))
        .setRaftGroup(group)
        .setRetryPolicy(retries)
        .build();
  }

  private void run(Path stop) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(CALLERS);
    List<Future<?>> callers = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      Caller caller = new Caller(i, stop);
      callers.add(threads.submit(caller));
    }
    threads.shutdown();
    do {
      System.out.println(
          ANSWERED
              + counts.entrySet().stream()
                  .map(each -> each.getKey() + '=' + each.getValue())
                  .collect(Collectors.joining(" ")));
    } while (!threads.awaitTermination(PERIOD_MILLIS, TimeUnit.MILLISECONDS));
    for (Future<?> caller : callers) {
      caller.get();
    }
    for (RaftPeerId server : servers) {
      for (int register = 0; register < REGISTERS; register++) {
        if (!call(Request.get(register), server, true).isAnswered()) {
          throw new IOException(server + " does not answer a read");
        }
      }
    }
  }

  /** Makes a call, counts and records it, and returns its outcome. */
  private Operation call(Request request, @Nullable RaftPeerId server, boolean isAsync)
      throws InterruptedException, TimeoutException {
    long invoked = System.nanoTime();
    Operation ended;
    try {
      RaftClientReply reply = isAsync ? async(request, server) : blocking(request, server);
      if (!reply.isSuccess()) {
        throw reply.getException();
      }
      long before = Long.parseLong(reply.getMessage().getContent().toStringUtf8());
      ended = new Operation(request, before, invoked, System.nanoTime(), true);
      lastSeen.put(request.register(), request.after(before));
      count(ended.isWrite() ? WRITES : server == null ? ANYWHERE : server.toString());
    } catch (IOException e) {
      ended = new Operation(request, 0, invoked, System.nanoTime(), false);
      System.out.println("no answer to " + request.text() + ": " + e);
    }
    synchronized (history) {
      history.println(ended.line());
    }
    return ended;
  }

  private void count(String what) {
    counts.get(what).incrementAndGet();
  }

  private RaftClientReply blocking(Request request, @Nullable RaftPeerId server)
      throws IOException {
    Message message = Message.valueOf(request.text());
    return request.kind() == Request.Kind.GET
        ? hasty.io().sendReadOnly(message, server)
        : hasty.io().send(message);
  }

  private RaftClientReply async(Request request, @Nullable RaftPeerId server)
      throws IOException, InterruptedException, TimeoutException {
    Message message = Message.valueOf(request.text());
    CompletableFuture<RaftClientReply> reply =
        request.kind() == Request.Kind.GET
            ? patient.async().sendReadOnly(message, server)
            : patient.async().send(message);
    try {
      return reply.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw IOUtils.asIOException(e.getCause());
    }
  }

  /** Makes one call at a time. */
  private final class Caller implements Callable<@Nullable Void> {
    private final int number;
    private final Path stop;
    private final Random random;

    private Caller(int number, Path stop) {
      this.number = number;
      this.stop = stop;
      random = new Random(number);
    }

    @Override
    public @Nullable Void call() throws Exception {
      RaftPeerId readsAt = number < servers.size() ? servers.get(number) : null;
      while (!Files.exists(stop)) {
        RegisterClient.this.call(next(), readsAt, number % 2 == 0);
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
      return null;
    }

    private Request next() {
      int register = random.nextInt(REGISTERS);
      return switch (random.nextInt(4)) {
        case 0 -> Request.put(register, values.incrementAndGet());
        case 1 ->
            Request.compareAndSet(
                register, lastSeen.getOrDefault(register, 0L), values.incrementAndGet());
        default -> Request.get(register);
      };
    }
  }
}
