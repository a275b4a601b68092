// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import static org.apache.ratis.conf.ConfUtils.get;
import static org.apache.ratis.conf.ConfUtils.getInt;
import static org.apache.ratis.conf.ConfUtils.requireMax;
import static org.apache.ratis.conf.ConfUtils.requireMin;
import static org.apache.ratis.conf.ConfUtils.set;
import static org.apache.ratis.conf.ConfUtils.setInt;

import io.verbena.RdmaTransport;
import java.net.URI;
import java.util.function.Consumer;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The properties of {@link VerbenaRpcType}, in the style of Ratis's own RPC types. */
public interface VerbenaConfigKeys {
  /** The prefix of all keys. */
  String PREFIX = "raft.verbena";

  /** Key of the HCA's URI. */
  String URI_KEY = PREFIX + ".uri";

  /** The default: an emulated HCA of this JVM. */
  String URI_DEFAULT = "emulated://ratis";

  /** Key of the most calls in flight to a peer. */
  String OUTSTANDING_CALLS_MAX_KEY = PREFIX + ".outstanding-calls.max";

  /** The default: more than Ratis's own limits allow a client or a leader. */
  int OUTSTANDING_CALLS_MAX_DEFAULT = 4096;

  /** Key, in {@link Parameters}, of the program's own transport. */
  String TRANSPORT_PARAMETER = PREFIX + ".transport";

  /**
   * Returns the URI that names the HCA. Peers have addresses of host and port, as with any RPC
   * type; the URI of the HCA supplies the scheme and the options. An address of this machine (the
   * wildcard, the loopback, {@code localhost} or the host of the URI) stands for the host of the
   * URI. If that is a name instead of an address, as in {@code emulated://ratis} and {@code
   * shm://ratis}, peers may have any host, and differ by their ports.
   *
   * @throws IllegalArgumentException if the property is not a URI
   */
  static URI uri(RaftProperties properties) {
    return URI.create(get(properties::get, URI_KEY, URI_DEFAULT, log()));
  }

  /** Sets the HCA's URI; see {@link #uri}. */
  static void setUri(RaftProperties properties, URI uri) {
    set(properties::set, URI_KEY, uri.toString());
  }

  /**
   * Returns the most calls in flight to a peer, 1 to 1048576; further calls fail with Ratis's
   * {@code ResourceUnavailableException}.
   */
  static int outstandingCallsMax(RaftProperties properties) {
    return getInt(
        properties::getInt,
        OUTSTANDING_CALLS_MAX_KEY,
        OUTSTANDING_CALLS_MAX_DEFAULT,
        log(),
        requireMin(1),
        requireMax(1 << 20));
  }

  /** Sets the most calls in flight to a peer. */
  static void setOutstandingCallsMax(RaftProperties properties, int calls) {
    setInt(properties::setInt, OUTSTANDING_CALLS_MAX_KEY, calls);
  }

  /**
   * Returns the program's own transport; null for one with default options, which all servers and
   * clients of this JVM without their own share.
   */
  static @Nullable RdmaTransport transport(@Nullable Parameters parameters) {
    return parameters == null ? null : parameters.get(TRANSPORT_PARAMETER, RdmaTransport.class);
  }

  /**
   * Sets the transport to use.
   *
   * @param transport the transport whose loops and memory are used; it stays the caller's
   */
  static void setTransport(Parameters parameters, RdmaTransport transport) {
    parameters.put(TRANSPORT_PARAMETER, transport, RdmaTransport.class);
  }

  /** The properties of a server. */
  interface Server {
    /** The prefix of the server's keys. */
    String PREFIX = VerbenaConfigKeys.PREFIX + ".server";

    /** Key of the host to listen on. */
    String HOST_KEY = PREFIX + ".host";

    /** Key of the port to listen on. */
    String PORT_KEY = PREFIX + ".port";

    /** The default: any port that is free. */
    int PORT_DEFAULT = 0;

    /** Key of the most requests of a connection that are processed at once. */
    String OUTSTANDING_REQUESTS_MAX_KEY = PREFIX + ".outstanding-requests.max";

    /** The default: the number of credits that the transport grants a peer. */
    int OUTSTANDING_REQUESTS_MAX_DEFAULT = 1024;

    /** Key of the most threads that process requests. */
    String REQUEST_THREADS_MAX_KEY = PREFIX + ".request.threads.max";

    /** The number that Ratis over gRPC has. */
    int REQUEST_THREADS_MAX_DEFAULT = 32;

    /** Key of the most appends with entries that a leader has in flight to a follower. */
    String LEADER_OUTSTANDING_APPENDS_MAX_KEY = PREFIX + ".leader.outstanding-appends.max";

    /** The number that Ratis over gRPC has. */
    int LEADER_OUTSTANDING_APPENDS_MAX_DEFAULT = 8;

    /** Key of the most chunks of a snapshot that a leader has in flight to a follower. */
    String SNAPSHOT_CHUNKS_MAX_KEY = PREFIX + ".install-snapshot.outstanding-chunks.max";

    /** The default: one chunk is written to disk while the next one is read and sent. */
    int SNAPSHOT_CHUNKS_MAX_DEFAULT = 2;

    /** Returns the host to listen on, or null for that of {@link VerbenaConfigKeys#uri}. */
    static @Nullable String host(RaftProperties properties) {
      return get(properties::get, HOST_KEY, null, log());
    }

    /** Sets the host to listen on. */
    static void setHost(RaftProperties properties, String host) {
      set(properties::set, HOST_KEY, host);
    }

    /** Returns the port to listen on, 0 to 65535; 0 for any that is free. */
    static int port(RaftProperties properties) {
      return getInt(
          properties::getInt, PORT_KEY, PORT_DEFAULT, log(), requireMin(0), requireMax(65535));
    }

    /** Sets the port to listen on. */
    static void setPort(RaftProperties properties, int port) {
      setInt(properties::setInt, PORT_KEY, port);
    }

    /**
     * Returns the most requests of a connection that are processed at once, 1 to 1048576; a peer
     * that sends more gets no credits meanwhile.
     */
    static int outstandingRequestsMax(RaftProperties properties) {
      return getInt(
          properties::getInt,
          OUTSTANDING_REQUESTS_MAX_KEY,
          OUTSTANDING_REQUESTS_MAX_DEFAULT,
          log(),
          requireMin(1),
          requireMax(1 << 20));
    }

    /** Sets the most requests of a connection that are processed at once. */
    static void setOutstandingRequestsMax(RaftProperties properties, int requests) {
      setInt(properties::setInt, OUTSTANDING_REQUESTS_MAX_KEY, requests);
    }

    /** Returns the most threads that process requests, 2 to 65536. */
    static int requestThreadsMax(RaftProperties properties) {
      return getInt(
          properties::getInt,
          REQUEST_THREADS_MAX_KEY,
          REQUEST_THREADS_MAX_DEFAULT,
          log(),
          requireMin(2),
          requireMax(65536));
    }

    /** Sets the most threads that process requests. */
    static void setRequestThreadsMax(RaftProperties properties, int threads) {
      setInt(properties::setInt, REQUEST_THREADS_MAX_KEY, threads);
    }

    /**
     * Returns the most appends with entries that a leader has in flight to a follower, 1 to 1024.
     */
    static int leaderOutstandingAppendsMax(RaftProperties properties) {
      return getInt(
          properties::getInt,
          LEADER_OUTSTANDING_APPENDS_MAX_KEY,
          LEADER_OUTSTANDING_APPENDS_MAX_DEFAULT,
          log(),
          requireMin(1),
          requireMax(1024));
    }

    /** Sets the most appends with entries that a leader has in flight to a follower. */
    static void setLeaderOutstandingAppendsMax(RaftProperties properties, int appends) {
      setInt(properties::setInt, LEADER_OUTSTANDING_APPENDS_MAX_KEY, appends);
    }

    /**
     * Returns the most chunks of a snapshot that a leader has in flight to a follower, 1 to 1024.
     */
    static int snapshotChunksMax(RaftProperties properties) {
      return getInt(
          properties::getInt,
          SNAPSHOT_CHUNKS_MAX_KEY,
          SNAPSHOT_CHUNKS_MAX_DEFAULT,
          log(),
          requireMin(1),
          requireMax(1024));
    }

    /** Sets the most chunks of a snapshot that a leader has in flight to a follower. */
    static void setSnapshotChunksMax(RaftProperties properties, int chunks) {
      setInt(properties::setInt, SNAPSHOT_CHUNKS_MAX_KEY, chunks);
    }
  }

  private static Consumer<String> log() {
    Logger logger = LoggerFactory.getLogger(VerbenaConfigKeys.class);
    return logger::info;
  }
}
