// SPDX-License-Identifier: Apache-2.0
package io.verbena.springboot;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.micrometer.core.instrument.MeterRegistry;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTransport;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.meters.Meters;
import io.verbena.netty.RdmaSockets;
import io.verbena.reactornetty.RdmaLoopResources;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.grpc.client.GrpcChannelBuilderCustomizer;
import org.springframework.grpc.client.GrpcChannelFactory;
import org.springframework.grpc.server.ServerBuilderCustomizer;
import org.springframework.http.client.ReactorResourceFactory;

/**
 * Configures the servers and clients that Spring Boot starts to use the HCA of {@link
 * VerbenaProperties#hca}. A bean that the program defines itself takes precedence.
 */
@AutoConfiguration(
    beforeName = {
      "org.springframework.boot.http.client.autoconfigure.reactive.ReactiveHttpClientAutoConfiguration",
      "org.springframework.boot.reactor.netty.autoconfigure.NettyReactiveWebServerAutoConfiguration",
      "org.springframework.boot.rsocket.autoconfigure.RSocketServerAutoConfiguration"
    },
    afterName =
        "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnProperty("verbena.hca")
@Conditional(VerbenaAutoConfiguration.HcaIsNamed.class)
@EnableConfigurationProperties(VerbenaProperties.class)
public class VerbenaAutoConfiguration {
  /** Called by Spring. */
  public VerbenaAutoConfiguration() {}

  /**
   * Matches if the property has a value. It is blank if it comes from a variable that is not set.
   */
  static final class HcaIsNamed implements Condition {
    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
      return !context.getEnvironment().getProperty("verbena.hca", "").isBlank();
    }
  }

  /**
   * Returns the options of transports and channels: the defaults, with the program's meters.
   *
   * @param meters the meters, if there are any
   */
  @Bean
  @ConditionalOnMissingBean
  public RdmaOptions verbenaOptions(ObjectProvider<Meters> meters) {
    RdmaOptions.Builder options = RdmaOptions.builder();
    meters.ifAvailable(options::meters);
    return options.build();
  }

  /**
   * Returns the transport for programs that use RDMA themselves; created on demand.
   *
   * @param options of the transport
   */
  @Bean(destroyMethod = "dispose")
  @Lazy
  @ConditionalOnMissingBean
  public RdmaTransport verbenaTransport(RdmaOptions options) {
    return RdmaTransport.create(options);
  }

  /**
   * Returns the event loops and channels of servers and clients, which a program can also use for
   * its own ones of Netty and gRPC. Spring closes them after the servers and clients.
   *
   * @param properties name the HCA
   * @param options of the channels
   */
  @Bean(destroyMethod = "close")
  @Lazy
  @ConditionalOnMissingBean
  public RdmaSockets verbenaSockets(VerbenaProperties properties, RdmaOptions options) {
    RdmaSockets.Builder sockets =
        RdmaSockets.builder(properties.hca()).options(options).sockets(properties.sockets());
    if (properties.loops() > 0) {
      sockets = sockets.loops(properties.loops());
    }
    return (properties.tcp() ? sockets.orTcp(properties.rdmaTimeout()) : sockets).build();
  }

  /** The resources that WebFlux, WebClient and RSocket run on. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ReactorResourceFactory.class)
  @ConditionalOnProperty(name = "verbena.http", matchIfMissing = true)
  static class Http {
    @Bean
    @ConditionalOnMissingBean
    ReactorResourceFactory verbenaReactorResources(RdmaSockets sockets) {
      ReactorResourceFactory resources = new ReactorResourceFactory();
      resources.setUseGlobalResources(false);
      resources.setLoopResources(RdmaLoopResources.create(sockets));
      return resources;
    }
  }

  /** The resources that Spring's gRPC servers run on. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({RdmaGrpc.class, NettyServerBuilder.class, ServerBuilderCustomizer.class})
  @ConditionalOnProperty(name = "verbena.grpc", matchIfMissing = true)
  static class GrpcServers {
    @Bean
    @ConditionalOnMissingBean(name = "verbenaGrpcServers")
    ServerBuilderCustomizer<NettyServerBuilder> verbenaGrpcServers(
        ObjectProvider<RdmaSockets> sockets) {
      return builder -> RdmaGrpc.server(builder, sockets.getObject());
    }
  }

  /** The resources that Spring's gRPC clients run on. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({
    RdmaGrpc.class,
    NettyChannelBuilder.class,
    GrpcChannelBuilderCustomizer.class,
    GrpcChannelFactory.class
  })
  @ConditionalOnProperty(name = "verbena.grpc", matchIfMissing = true)
  static class GrpcClients {
    @Bean
    @ConditionalOnMissingBean(name = "verbenaGrpcClients")
    GrpcChannelBuilderCustomizer<NettyChannelBuilder> verbenaGrpcClients(
        ObjectProvider<RdmaSockets> sockets, ConfigurableListableBeanFactory beans) {
      return (target, builder) -> {
        RdmaGrpc.client(builder, sockets.getObject());
        // Channels have to end their calls before the sockets close. The sockets are created later,
        // so Spring would close them first.
        for (String ours : names(beans, RdmaSockets.class)) {
          for (String factory : names(beans, GrpcChannelFactory.class)) {
            beans.registerDependentBean(ours, factory);
          }
        }
      };
    }

    private static String[] names(ConfigurableListableBeanFactory beans, Class<?> type) {
      return beans.getBeanNamesForType(
          type, /* includeNonSingletons= */ true, /* allowEagerInit= */ false);
    }
  }

  /** The meters that Actuator shows. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MeterRegistry.class)
  static class Metrics {
    @Bean(destroyMethod = "close")
    @ConditionalOnBean(MeterRegistry.class)
    @ConditionalOnMissingBean(Meters.class)
    VerbenaMeters verbenaMeters(MeterRegistry registry) {
      return new VerbenaMeters(registry);
    }
  }

  /** The health indicator of the HCA. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({HealthIndicator.class, MeterRegistry.class})
  static class DeviceHealth {
    @Bean
    @ConditionalOnEnabledHealthIndicator("verbena")
    @ConditionalOnMissingBean(name = "verbenaHealthIndicator")
    HcaHealthIndicator verbenaHealthIndicator(
        VerbenaProperties properties, ObjectProvider<MeterRegistry> registry) {
      return new HcaHealthIndicator(properties.hca(), properties.tcp(), registry.getIfAvailable());
    }
  }
}
