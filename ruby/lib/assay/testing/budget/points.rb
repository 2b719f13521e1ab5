# frozen_string_literal: true

# The methods at which a budget counts: those of Ruby and of well-known libraries, the same as in
# the ready-made patches (lib/assay/patches), chosen such that each operation of a library passes
# through exactly one of them. They are intercepted while a budget counts, and restored afterwards.

require_relative "../../real_clock"
require_relative "../../patches"
require_relative "../kind"
require_relative "../seam"

module Assay
  module Testing
    class Budget
      # One intercepted method. It uses a Seam like a fake, beneath all fakes, and always calls the
      # original.
      class Point
        # `handler` is called with the call and a proc that calls the original, and returns that
        # proc's value.
        def initialize(owner, name, &handler)
          @owner = owner
          @name = name
          @handler = handler
          @put = false
        end

        # [owner, name]
        def place = [@owner, @name]

        # Starts intercepting; does nothing if there is no such method.
        def put
          return unless @owner.method_defined?(@name) || @owner.private_method_defined?(@name)

          Seam.put(self, @owner, @name, beneath: true)
          @put = true
        end

        # Stops intercepting.
        def remove
          Seam.remove(self, @owner, @name) if @put
          @put = false
        end

        # Called by Seam: all threads of the process count.
        def covers?(_thread) = true

        # Called by Seam for every call.
        def call(call, original) = @handler.call(call, original)
      end

      # The points of each kind.
      class Points
        PG = %i[exec exec_params query async_query async_exec async_exec_params sync_exec sync_exec_params send_query send_query_params].freeze
        PG_PREPARED = %i[exec_prepared async_exec_prepared sync_exec_prepared send_query_prepared].freeze
        PG_PREPARE = %i[prepare async_prepare sync_prepare send_prepare].freeze
        private_constant :PG, :PG_PREPARED, :PG_PREPARE

        # The points of these kinds, for the loaded libraries; they call the budget's `add`.
        def self.of(kinds, budget) = kinds.flat_map { |kind| new(budget).of(kind) }

        def initialize(budget)
          @budget = budget
          @prepared = {}
          @executed = {}.compare_by_identity
        end

        def of(kind)
          case kind
          when :sql then with_own(:sql, :sql, [*pg, *sqlite3, *mysql2, *trilogy])
          when :redis then with_own(:redis, :redis, redis)
          when :log_lines then log_lines
          when :http then with_own(:net, :http, http)
          when :processes then processes
          when :sleep then sleeps
          else []
          end
        end

        private

        # A point that counts each call, with a text derived from it; code around the call is the
        # handler's.
        def counted(owner, names, kind, amount = nil, &text)
          names.map do |name|
            Point.new(owner, name) do |call, original|
              @budget.add(kind, amount ? amount.call(call) : 1, text.call(call))
              original.call
            end
          end
        end

        def first(call) = call.arguments.first

        # Adds methods that the program itself has patched under the name of the ready-made patches.
        def with_own(row, kind, points)
          known = points.to_h { |point| [point.place, true] }
          own = MethodProfiler.methods_named(row).reject { |place| known[place] || Patches.own?(*place) }
          points + own.flat_map { |owner, name| counted(owner, [name], kind) { |call| first(call).is_a?(String) ? first(call) : name } }
        end

        def pg
          return [] unless defined?(::PG::Connection)

          connection = ::PG::Connection
          remembered = PG_PREPARE.map do |name|
            Point.new(connection, name) { |call, original| original.call.tap { @prepared[[call.receiver, first(call)]] = call.arguments[1] } }
          end
          prepared = counted(connection, PG_PREPARED, :sql) { |call| @prepared[[call.receiver, first(call)]] || "(prepared before) #{first(call)}" }
          [*remembered, *counted(connection, PG, :sql) { |call| first(call) }, *prepared]
        end

        # A statement that was only bound is executed by reading it; one that was executed is only
        # read.
        def sqlite3
          return [] unless defined?(::SQLite3::Database) && defined?(::SQLite3::Statement)

          statement = ::SQLite3::Statement
          made = Point.new(statement, :initialize) { |call, original| original.call.tap { @prepared[call.receiver.object_id] = call.arguments[1] } }
          execute = Point.new(statement, :execute) do |call, original|
            @executed[call.receiver] = true
            @budget.add(:sql, 1, text_of(call.receiver))
            original.call
          end
          each = Point.new(statement, :each) do |call, original|
            @budget.add(:sql, 1, text_of(call.receiver)) unless @executed[call.receiver] || call.block.nil?
            original.call
          end
          [made, execute, each, *counted(::SQLite3::Database, %i[execute execute_batch execute_batch2], :sql) { |call| first(call) }]
        end

        def text_of(statement) = @prepared[statement.object_id] || "(prepared before)"

        def mysql2
          return [] unless defined?(::Mysql2::Client) && defined?(::Mysql2::Statement)

          prepare = Point.new(::Mysql2::Client, :prepare) do |call, original|
            original.call.tap { |statement| @prepared[statement.object_id] = first(call) }
          end
          [prepare, *counted(::Mysql2::Client, %i[query], :sql) { |call| first(call) },
           *counted(::Mysql2::Statement, %i[execute], :sql) { |call| text_of(call.receiver) }]
        end

        def trilogy = defined?(::Trilogy) ? counted(::Trilogy, %i[query], :sql) { |call| first(call) } : []

        # A pipeline counts as many commands as it contains.
        def redis
          old = defined?(::Redis::Client) && !(defined?(::RedisClient) && ::Redis::Client <= ::RedisClient)
          many = ->(call) { first(call).size }
          [
            *(counted(::Redis::Client, %i[process], :redis, many) { |call| Array(first(call).first).first } if old),
            *(if defined?(::RedisClient::ConnectionMixin)
                [*counted(::RedisClient::ConnectionMixin, %i[call], :redis) { |call| Array(first(call)).first },
                 *counted(::RedisClient::ConnectionMixin, %i[call_pipelined], :redis, many) { |call| Array(first(call).first).first }]
              end)
          ]
        end

        def log_lines
          return [] unless defined?(::Logger::LogDevice)

          counted(::Logger::LogDevice, %i[write], :log_lines, ->(call) { [first(call).to_s.count("\n"), 1].max }) { |call| first(call) }
        end

        def http
          return [] unless defined?(::Net::HTTP)

          counted(::Net::HTTP, %i[transport_request], :http) do |call|
            request = first(call)
            "#{request.method} #{call.receiver.address}#{request.path.to_s[/\A[^?]*/]}"
          end
        end

        def processes
          command = lambda do |call|
            given = call.arguments.reject { |argument| argument.is_a?(Hash) }.flatten.join(" ")
            given.empty? ? call.name.to_s : given
          end
          own = %i[system spawn fork `]
          [[::Kernel, own], [::Kernel.singleton_class, own], [::Process.singleton_class, %i[spawn fork daemon]], [::IO.singleton_class, %i[popen]]]
            .flat_map { |owner, names| counted(owner, names, :processes, &command) }
        end

        # Counts the real duration. Waits with a timeout count only in the thread of the budget: in
        # other threads they belong to libraries, such as Timeout.
        def sleeps
          thread = Thread.current
          by_name = [::Kernel, ::Kernel.singleton_class].map { |owner| Point.new(owner, :sleep) { |_call, original| slept(original) } }
          waits = SleepKind.waits.map do |owner, name|
            Point.new(owner, name) do |call, original|
              limited = !call.seconds.nil? && (name != :select || !call.files?)
              limited && Thread.current.equal?(thread) && !Thread.current[:__assay_waiting] ? slept(original) : original.call
            end
          end
          by_name + waits
        end

        # A sleep that calls another sleeping method counts once.
        def slept(original)
          return original.call if Thread.current[:__assay_waiting]

          begun = RealClock.nanoseconds
          Thread.current[:__assay_waiting] = true
          begin
            original.call
          ensure
            Thread.current[:__assay_waiting] = nil
            @budget.add(:sleep, (RealClock.nanoseconds - begun) / 1e9, place)
          end
        end

        # Location of the calling code under test, outside this gem.
        def place
          found = caller_locations(2, 30).find { |each| !each.path.start_with?("<internal:", OWN, RbConfig::CONFIG["rubylibdir"]) }
          found ? "from #{found.path.delete_prefix("#{Dir.pwd}/")}:#{found.lineno}" : "from somewhere"
        end

        OWN = File.expand_path("../../..", __dir__)
        private_constant :OWN
      end
      private_constant :Point, :Points
    end
  end
end
