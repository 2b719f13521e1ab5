# frozen_string_literal: true

# Counts what makes a test slow: log lines, SQL statements, Redis commands, sleeps, HTTP requests,
# started programs. Loaded only if ASSAY_TESTS_CAUSES is set, and installed in a library once that
# is loaded. The methods are chosen such that each action of a library passes exactly one of them
# once; stubbed calls are not counted.

module AssayTests
  # Installs the counters in libraries.
  module Causes
    # File name of the methods defined here in backtraces.
    FILE = "<internal:assay_tests>"
    # For each library a check whether it is loaded, and what is installed in it. Methods that do
    # not exist are skipped.
    LIBRARIES = {
      log: [
        -> { ::Logger::LogDevice if defined?(::Logger::LogDevice) },
        lambda do |device|
          Causes.before(device, <<~'RUBY')
            def write(message)
              ::AssayTests::COUNTS[::AssayTests::LOG_LINES] += message.is_a?(::String) ? [message.count("\n"), 1].max : 1
              super
            end
          RUBY
        end
      ],
      pg: [
        -> { ::PG::Connection if defined?(::PG::Connection) },
        lambda do |connection|
          names = %i[exec exec_params exec_prepared query async_query async_exec async_exec_params async_exec_prepared sync_exec sync_exec_params
                     sync_exec_prepared send_query send_query_params send_query_prepared]
          Causes.timed(connection, names, :SQL)
        end
      ],
      mysql2: [
        -> { ::Mysql2::Client if defined?(::Mysql2::Client) && defined?(::Mysql2::Statement) },
        lambda do |client|
          Causes.timed(client, %i[query], :SQL)
          Causes.timed(::Mysql2::Statement, %i[execute], :SQL)
        end
      ],
      trilogy: [-> { ::Trilogy if defined?(::Trilogy) }, ->(client) { Causes.timed(client, %i[query], :SQL) }],
      sqlite3: [
        -> { ::SQLite3::Statement if defined?(::SQLite3::Database) && defined?(::SQLite3::Statement) },
        lambda do |statement|
          Causes.timed(::SQLite3::Database, %i[execute execute_batch execute_batch2], :SQL)
          Causes.timed(statement, %i[execute], :SQL)
          # A statement that was only bound is executed by reading it; one that was executed is only
          # read.
          Causes.before(statement, <<~'RUBY')
            def execute(...)
              @assay_tests_executed = true
              super
            end

            def each(&block)
              return super if @assay_tests_executed || block.nil?

              ::AssayTests::Causes.time(::AssayTests::SQL) { super }
            end
          RUBY
        end
      ],
      redis: [
        -> { ::Redis::Client if defined?(::Redis::Client) && !(defined?(::RedisClient) && ::Redis::Client <= ::RedisClient) },
        lambda do |client|
          Causes.before(client, <<~'RUBY')
            def process(commands, &block)
              ::AssayTests::COUNTS[::AssayTests::REDIS] += commands.size - 1
              ::AssayTests::Causes.time(::AssayTests::REDIS) { super }
            end
          RUBY
        end
      ],
      redis_client: [
        -> { ::RedisClient::ConnectionMixin if defined?(::RedisClient::ConnectionMixin) },
        lambda do |connection|
          Causes.before(connection, <<~'RUBY')
            def call(...)
              ::AssayTests::Causes.time(::AssayTests::REDIS) { super }
            end

            def call_pipelined(commands, ...)
              ::AssayTests::COUNTS[::AssayTests::REDIS] += commands.size - 1
              ::AssayTests::Causes.time(::AssayTests::REDIS) { super }
            end
          RUBY
        end
      ],
      http: [
        -> { ::Net::HTTP if defined?(::Net::HTTP) && ::Net::HTTP.private_method_defined?(:transport_request) },
        ->(http) { Causes.timed(http, %i[transport_request], :HTTP) }
      ]
    }

    # Counts and times a block. The time follows the count.
    module_eval(<<~'RUBY', FILE, 1)
      def self.time(row)
        begun = CLOCK.call(MONOTONIC, :nanosecond)
        yield
      ensure
        COUNTS[row] += 1
        COUNTS[row + 1] += CLOCK.call(MONOTONIC, :nanosecond) - begun
      end
    RUBY

    @put_in = {}
    @features = -1

    # Receives ActiveRecord's notifications of statements, which may be nested.
    class ActiveRecordStatements
      def initialize
        @open = []
      end

      def start(_name, _id, _payload)
        @open.push([COUNTS[SQL], CLOCK.call(MONOTONIC, :nanosecond)])
      end

      def finish(_name, _id, payload)
        statements, begun = @open.pop
        Causes.above(statements, begun) if begun && !payload[:cached] && payload[:name] != "SCHEMA"
      end
    end

    class << self
      # Checks for libraries again if anything was loaded since.
      def look
        return if $LOADED_FEATURES.size == @features

        @features = $LOADED_FEATURES.size
        LIBRARIES.each do |name, (found, put)|
          next if @put_in[name] || (target = found.call).nil?

          @put_in[name] = true
          AssayTests.guarded { put.call(target) }
        end
        statements_of_others
      end

      def before(target, source)
        methods = Module.new
        methods.module_eval(source, FILE, 1)
        target.prepend(methods)
      end

      # Counts and times these methods, keeping private methods private.
      def timed(target, names, row)
        source = names.filter_map do |name|
          hidden = target.private_method_defined?(name)
          next unless hidden || target.method_defined?(name)

          "def #{name}(...)\n::AssayTests::Causes.time(::AssayTests::#{row}) { super }\nend\n#{"private :#{name}\n" if hidden}"
        end
        before(target, source.join)
      end

      # Counts a statement unless a driver has counted it since.
      def above(statements, begun)
        return unless COUNTS[SQL] == statements

        COUNTS[SQL] += 1
        COUNTS[SQL_TIME] += CLOCK.call(MONOTONIC, :nanosecond) - begun
      end

      # Methods of Kernel and Process, both as instance methods and as module functions.
      def put_into_ruby
        into(::Kernel, %i[sleep], "::AssayTests::Causes.time(::AssayTests::SLEEPS) { CALL }")
        count = "::AssayTests::COUNTS[::AssayTests::PROCESSES] += 1\nCALL"
        into(::Kernel, %i[system spawn fork `], count)
        [[::Process.singleton_class, %i[spawn fork daemon]], [::IO.singleton_class, %i[popen]]].each do |owner, names|
          names.each do |name|
            next unless owner.method_defined?(name)

            before(owner, "def #{name}(...)\n::AssayTests::COUNTS[::AssayTests::PROCESSES] += 1\nsuper\nend\n")
          end
        end
      end

      private

      # Up to Ruby 2.7, prepending to a module does not affect classes that already include it, so
      # an alias is used. Programs started by Kernel's `fork` do not pass Process.fork.
      def into(owner, names, body)
        names.each do |name|
          kept = "assay_tests_#{name == :` ? "backtick" : name}"
          source = "#{body.sub("CALL", "#{kept}(*arguments, &block)")}\n"
          text = "alias_method :#{kept}, :#{name}\ndef #{name}(*arguments, &block)\n#{source}end\n" \
                 "ruby2_keywords(:#{name}) if respond_to?(:ruby2_keywords, true)\nprivate :#{name}, :#{kept}\n"
          owner.module_eval(text, FILE, 1)
          owner.singleton_class.class_eval(text.sub(/^private .*/, "private :#{kept}"), FILE, 1)
        end
      end

      # Libraries above drivers count only statements that no driver below has counted.
      def statements_of_others
        if !@active_record && defined?(::ActiveRecord::Base) && defined?(::ActiveSupport::Notifications)
          @active_record = true
          ::ActiveSupport::Notifications.subscribe("sql.active_record", ActiveRecordStatements.new)
        end
        return if @sequel || !defined?(::Sequel::Database) || !::Sequel::Database.method_defined?(:log_connection_yield)

        @sequel = true
        before(::Sequel::Database, <<~'RUBY')
          def log_connection_yield(...)
            statements = ::AssayTests::COUNTS[::AssayTests::SQL]
            begun = ::AssayTests.now
            super
          ensure
            ::AssayTests::Causes.above(statements, begun)
          end
        RUBY
      end
    end
  end

  class << self
    # Called at the start of the run.
    def watch_causes
      guarded { Causes.put_into_ruby }
      guarded { Causes.look }
    end

    # Called at the start of a test, since libraries may have been loaded after the previous one.
    def look_for_libraries
      Causes.look
    end
  end
end
