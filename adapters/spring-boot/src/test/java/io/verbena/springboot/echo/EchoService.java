// SPDX-License-Identifier: Apache-2.0
package io.verbena.springboot.echo;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** An ordinary service without any RDMA code. */
@SpringBootApplication
@RestController
class EchoService {
  /** The text that precedes the port in its output once it serves. */
  static final String SERVES = "serves at ";

  @PostMapping("/echo")
  Mono<byte[]> echo(@RequestBody Mono<byte[]> body) {
    return body;
  }

  @MessageMapping("count")
  Flux<Integer> count(int most) {
    return Flux.range(1, most);
  }

  /** Serves until its input ends. */
  public static void main(String[] arguments) throws Exception {
    var context = SpringApplication.run(EchoService.class, arguments);
    System.out.println(SERVES + context.getEnvironment().getProperty("local.server.port"));
    int end = System.in.read();
    context.close();
    System.exit(end < 0 ? 0 : 1);
  }
}
