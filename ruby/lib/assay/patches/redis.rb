# frozen_string_literal: true

# Redis: the gem redis up to version 4, whose commands all pass through Redis::Client#process, and
# the gem redis-client, used by redis 5 and Sidekiq. A pipeline is a single call of either; this
# file makes all its commands count.

module Assay
  module Patches
    class Redis < Library
      # A patched no-op that is called for each command of a pipeline after the first. It takes no
      # time: the pipeline's time counts for the first.
      module Further
        def self.command; end

        def self.count(commands)
          (commands.size - 1).times { command } if commands.size > 1 && MethodProfiler.current
        end
      end

      # Prepended to Redis::Client.
      module Processing
        def process(commands, &block)
          Further.count(commands)
          super
        end
      end

      # Prepended to RedisClient::ConnectionMixin.
      module Pipelining
        def call_pipelined(commands, ...)
          Further.count(commands)
          super
        end
      end
      private_constant :Further, :Processing, :Pipelining

      def self.key = :redis
      def self.counts = :redis

      def versions
        [
          (["redis", ::Redis::VERSION, [">= 3.3", "< 7"]] if defined?(::Redis::Client)),
          (["redis-client", ::RedisClient::VERSION, [">= 0.10", "< 1"]] if defined?(::RedisClient::ConnectionMixin))
        ].compact
      end

      # The commands sent when connecting (HELLO, AUTH, SELECT) also count.
      def targets
        [
          ([::Redis::Client, %i[process], :redis, true] if old?),
          ([::RedisClient::ConnectionMixin, %i[call call_pipelined], :redis, true] if new?),
          [Further.singleton_class, %i[command], :redis, true]
        ].compact
      end

      private

      def old? = defined?(::Redis::Client) && !(defined?(::RedisClient) && ::Redis::Client <= ::RedisClient)
      def new? = defined?(::RedisClient::ConnectionMixin)

      def seams
        {
          **(old? ? {::Redis::Client => Processing} : {}),
          **(new? ? {::RedisClient::ConnectionMixin => Pipelining} : {})
        }
      end
    end
    private_constant :Redis
  end
end
