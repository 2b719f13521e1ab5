# frozen_string_literal: true

# Loaded by `assay bench` ahead of a script that uses benchmark-ips. The script runs as ever, but in place of the library's own
# measuring its items are listed, or one of them is measured and the script ends. Nothing is compared, held, saved, or shared.
#
# The class stands here before the library opens it: what is prepended now stays in front of the library's methods, of all its
# versions. No other library is loaded, so that the script finds its process as it is without us.
#
# From the environment: ASSAY_IPS_ANSWER, the file to write; ASSAY_IPS_ITEM, the item to measure (without it all are listed);
# ASSAY_IPS_ITERATIONS or else ASSAY_IPS_SECONDS, how much; ASSAY_IPS_WARM_UP, the calls of the
# warm-up, otherwise those of the script's own; ASSAY_IPS_COLD, no warm-up.

# A report that goes to a server is none of ours.
%w[SHARE SHARE_URL].each { |name| ENV.delete(name) }

module Benchmark
  module IPS
    class Job
      module Assay
        MOST = 1 << 30
        # Seconds of the first window of a warm-up, and of a batch of calls in it.
        FIRST_WINDOW = 0.02
        BATCH = 0.001
        # The fewest windows of a warm-up that ends before the script's own does.
        ENOUGH = 5
        # An iteration is faster if it takes less than this share of the time.
        STEADY = 0.95
        # An item is cold if its last iterations took less than this share of those before.
        COLD = 0.9

        @names = {}

        class << self
          # The label, and where another item had it, with its number behind.
          def name_of(label)
            text = label.to_s.encode('UTF-8', invalid: :replace, undef: :replace).scrub
            text = 'unnamed' if text.strip.empty?
            name = text
            number = 1
            name = "#{text} ##{number += 1}" while @names.key?(name)
            @names[name] = true
            name
          end

          def quoted(text)
            "\"#{text.gsub(/["\\\u0000-\u001f\u007f]/) { |c| format('\\u%04x', c.ord) }}\""
          end

          def write(lines, mode = 'w')
            File.open(ENV.fetch('ASSAY_IPS_ANSWER'), mode) { |file| lines.each { |line| file.puts(line) } }
          end

          def nanoseconds(clock)
            Process.clock_gettime(clock, :nanosecond)
          end

          def objects
            GC.stat(:total_allocated_objects)
          rescue ArgumentError, TypeError, NotImplementedError
            nil
          end

          # The iterations that take about this many seconds.
          def count_for(each, seconds)
            (seconds / [each, 1e-9].max).ceil.clamp(1, MOST)
          end

          # Calls an item untimed until it is steady, at most for the script's own warm-up, in windows of time that are each twice as long as the one before.
          # Returns the shortest times of an iteration in the last of them; the calls after which the times were like those, and the
          # seconds that a run with twice these calls saves; and whether they were still getting shorter. CPU time shows it: a busy machine changes it little.
          def warm_up(entry, limit)
            windows = []
            called = 0
            spent = 0.0
            seconds = FIRST_WINDOW
            count = 1
            loop do
              each, count, calls, took = window(entry, count, [seconds, limit - spent].min)
              called += calls
              spent += took
              seconds *= 2
              windows << [each, called, spent]
              break if spent >= limit || steady?(windows)
            end
            last = windows[-1][0]
            slow = windows.rindex { |each,| last['cpu'] < each['cpu'] * STEADY }
            before = windows[-2]
            calls, needed = slow ? windows[slow].drop(1) : [1, 0.0]
            [last, { 'warm_up' => calls, 'warm_up_saved' => [spent - (2 * needed), 0.0].max }, !before.nil? && last['cpu'] < before[0]['cpu'] * COLD]
          end

          # Whether the last windows, which took most of the time, show no faster iterations than those before them.
          def steady?(windows)
            windows.size >= ENOUGH && windows.last(3).each_cons(2).none? { |before, after| after[0]['cpu'] < before[0]['cpu'] * STEADY }
          end

          # Calls an item as often as an earlier run found necessary, and twice that to be safe. Returns the shortest times.
          def warm_up_again(entry, calls)
            timed(entry, 2 * calls)
            window(entry, 1, FIRST_WINDOW)[0] unless ENV['ASSAY_IPS_ITERATIONS']
          end

          # Calls an item for about this long. Returns the shortest times of an iteration, in batches long enough for the clock, their
          # size, the calls, and the seconds.
          def window(entry, count, seconds)
            each = { 'wall' => Float::INFINITY, 'cpu' => Float::INFINITY }
            calls = 0
            spent = 0.0
            loop do
              took = timed(entry, count)
              calls += count
              spent += took['wall']
              if took['wall'] < BATCH && count < MOST
                count *= 2
              else
                each = each.to_h { |metric, shortest| [metric, [shortest, took[metric] / count].min] }
                return [each, count, calls, spent] if spent >= seconds
              end
            end
          end

          # Totals of so many iterations in one go.
          def timed(entry, count)
            objects = self.objects
            cpu = nanoseconds(Process::CLOCK_PROCESS_CPUTIME_ID)
            wall = nanoseconds(Process::CLOCK_MONOTONIC)
            entry.call_times(count)
            wall = nanoseconds(Process::CLOCK_MONOTONIC) - wall
            cpu = nanoseconds(Process::CLOCK_PROCESS_CPUTIME_ID) - cpu
            objects = self.objects - objects if objects
            { 'wall' => wall / 1e9, 'cpu' => cpu / 1e9, 'allocated_objects' => objects }.compact
          end

          # Waits for the turn, after passing it on if there was one before (crates/harness/src/turns.rs).
          def begin_turn
            unless @own
              room, side = ENV.values_at('ASSAY_TURNS', 'ASSAY_TURN')
              @own = File.open(File.join(room, side))
              @other = File.open(File.join(room, side == 'a' ? 'b' : 'a'), 'w')
              File.open(File.join(room, 'ready'), 'w') { |ready| ready.write('r') }
              @alone = false
              return await_turn
            end
            @other.syswrite('t')
            await_turn
          end

          def await_turn
            @alone = @own.readpartial(1) != 't' unless @alone
          end

          # The other process must not be disturbed by the end of this one.
          def finish_turns
            @other.syswrite('d')
            await_turn until @alone
          end

          # Totals of `count` iterations, in turns if there is another process.
          def timed_in_turns(entry, count)
            turns = ENV.key?('ASSAY_TURNS') ? [Integer(ENV.fetch('ASSAY_TURN_COUNT')), count].min : 1
            return timed(entry, count) if turns < 2

            sums = {}
            turns.times do |turn|
              begin_turn
              part = timed(entry, (count * (turn + 1) / turns) - (count * turn / turns))
              sums.merge!(part) { |_, sum, own| sum + own }
            end
            finish_turns
            sums
          end

          # The iterations, their totals, what was found out about the warm-up, and whether the values are cold.
          def measured(entry, suite, limit)
            given = ENV['ASSAY_IPS_ITERATIONS']
            known = ENV['ASSAY_IPS_WARM_UP']
            if known
              each = warm_up_again(entry, Integer(known))
            elsif !ENV['ASSAY_IPS_COLD']
              suite.warming(entry.label, limit) if suite.respond_to?(:warming)
              each, warmed, cold = warm_up(entry, limit)
            end
            seconds = given ? 0.0 : Float(ENV.fetch('ASSAY_IPS_SECONDS'))
            count = given ? Integer(given) : count_for(each['wall'], seconds)
            # Suites that switch the garbage collector off do it here.
            suite.running(entry.label, seconds) if suite.respond_to?(:running)
            GC.start
            totals = timed_in_turns(entry, count)
            [count, totals, warmed || {}, cold || (warmed && totals['cpu'] / count < each['cpu'] * COLD)]
          end

          # The answer is a file of assay's own format.
          def answer(name)
            head = ["{\"assay\":1,\"kind\":\"run\",\"tool\":#{quoted("benchmark-ips #{VERSION}")}}",
                    "{\"kind\":\"side\",\"name\":\"\"}", "{\"kind\":\"row\",\"name\":#{quoted(name)}}",
                    "{\"kind\":\"subject\",\"side\":0,\"row\":0,\"name\":#{quoted(name)}}"]
            count, totals, warmed, cold = yield
            values = totals.map { |metric, total| "\"#{metric}\":#{total.to_f / count}" }
            units = totals.map do |metric, _|
              "{\"kind\":\"metric\",\"name\":\"#{metric}\",\"unit\":\"#{metric == 'allocated_objects' ? '1' : 's'}\"}"
            end
            iterations = '{"kind":"metric","name":"iterations","unit":"1","better":"higher"}'
            values << "\"iterations\":#{count}"
            warmed.each { |metric, value| values << "\"#{metric}\":#{value}" }
            units += warmed.keys.map { |metric| "{\"kind\":\"metric\",\"name\":\"#{metric}\",\"unit\":\"1\"}" }
            found = units + [iterations, "{\"kind\":\"obs\",\"subject\":0,\"values\":{#{values.join(',')}}}"]
            found << "{\"kind\":\"finding\",\"code\":\"WARM_UP\",\"severity\":\"warning\",\"message\":\"\"," \
                     "\"subject\":#{quoted(name)}}" if cold
            write(head + found)
          rescue StandardError, ScriptError, SystemStackError, NoMemoryError => e
            why = quoted("#{e.class}: #{e.message}".encode('UTF-8', invalid: :replace, undef: :replace).scrub)
            write(head + ["{\"kind\":\"finding\",\"code\":\"BENCHMARK_FAILED\",\"severity\":\"serious\"," \
                          "\"message\":#{why},\"subject\":#{quoted(name)}}"])
          end
        end

        def run
          wanted = ENV['ASSAY_IPS_ITEM']&.dup&.force_encoding('UTF-8')
          names = list.map { |entry| Assay.name_of(entry.label) }
          list.zip(names) do |entry, name|
            if wanted == name
              Assay.answer(name) { Assay.measured(entry, @out || @suite, Float(@warmup || 0)) }
              exit
            end
            Assay.write([Assay.quoted(name)], 'a') unless wanted
            # A script may look at its report: there is one, of once a second.
            create_report(entry.label, 1_000_000, 1, Stats::SD.new([1.0]), 1)
          end
          Assay.write(["[#{names.map { |name| Assay.quoted(name) }.join(',')}]"], 'a') if compare? && !wanted
        end

        def run_comparison; end

        def generate_json; end

        def load_held_results; end

        def save_held_results; end

        def clear_held_results; end

        def hold?
          false
        end

        def run_single?
          false
        end
      end

      prepend Assay
    end
  end
end
