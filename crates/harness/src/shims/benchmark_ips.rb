# frozen_string_literal: true

# Loaded by `assay bench` ahead of a script that uses benchmark-ips. The script runs as ever, but in place of the library's own
# measuring its items are listed, or one of them is measured and the script ends. Nothing is compared, held, saved, or shared.
#
# The class stands here before the library opens it: what is prepended now stays in front of the library's methods, of all its
# versions. No other library is loaded, so that the script finds its process as it is without us.
#
# From the environment: ASSAY_IPS_ANSWER, the file to write; ASSAY_IPS_ITEM, the item to measure (without it all are listed);
# ASSAY_IPS_ITERATIONS or else ASSAY_IPS_SECONDS, how much; ASSAY_IPS_COLD, not to call it beforehand.

# A report that goes to a server is none of ours.
%w[SHARE SHARE_URL].each { |name| ENV.delete(name) }

module Benchmark
  module IPS
    class Job
      module Assay
        MOST = 1 << 30

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

          # So many iterations as take about so many seconds; the search warms up, too. Of two trials the shorter counts: a
          # trial may be long because the machine did something else.
          def count_for(entry, seconds)
            count = 1
            loop do
              took = [timed(entry, count)['wall'], timed(entry, count)['wall']].min
              return (count * seconds / took).ceil.clamp(1, MOST) if took * 10 >= seconds || count >= MOST

              count *= 2
            end
          end

          # The first call fills caches, those of this method too. A compiler wants to see the code some dozen times.
          def warm_up(entry, count)
            return if ENV['ASSAY_IPS_COLD']

            compiles = RUBY_ENGINE != 'ruby' || %i[YJIT ZJIT RJIT MJIT].any? do |name|
              RubyVM.const_defined?(name) && RubyVM.const_get(name).enabled?
            end
            timed(entry, compiles ? [count, 100].min : 1)
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

          def measured(entry, suite)
            given = ENV['ASSAY_IPS_ITERATIONS']
            seconds = given ? 0.0 : Float(ENV.fetch('ASSAY_IPS_SECONDS'))
            count = given ? Integer(given) : count_for(entry, seconds)
            warm_up(entry, count)
            # Suites that switch the garbage collector off do it here.
            suite.running(entry.label, seconds) if suite.respond_to?(:running)
            GC.start
            [count, timed(entry, count)]
          end

          # The answer is a file of assay's own format.
          def answer(name)
            head = ["{\"assay\":1,\"kind\":\"run\",\"tool\":#{quoted("benchmark-ips #{VERSION}")}}",
                    "{\"kind\":\"side\",\"name\":\"\"}", "{\"kind\":\"row\",\"name\":#{quoted(name)}}",
                    "{\"kind\":\"subject\",\"side\":0,\"row\":0,\"name\":#{quoted(name)}}"]
            count, totals = yield
            values = totals.map { |metric, total| "\"#{metric}\":#{total.to_f / count}" }
            units = totals.map do |metric, _|
              "{\"kind\":\"metric\",\"name\":\"#{metric}\",\"unit\":\"#{metric == 'allocated_objects' ? '1' : 's'}\"}"
            end
            iterations = '{"kind":"metric","name":"iterations","unit":"1","better":"higher"}'
            values << "\"iterations\":#{count}"
            write(head + units + [iterations, "{\"kind\":\"obs\",\"subject\":0,\"values\":{#{values.join(',')}}}"])
          rescue StandardError, ScriptError, SystemStackError, NoMemoryError => e
            why = quoted("#{e.class}: #{e.message}".encode('UTF-8', invalid: :replace, undef: :replace).scrub)
            write(head + ["{\"kind\":\"finding\",\"code\":\"BENCHMARK_FAILED\",\"severity\":\"serious\"," \
                          "\"message\":#{why},\"subject\":#{quoted(name)}}"])
          end
        end

        def run
          wanted = ENV['ASSAY_IPS_ITEM']&.dup&.force_encoding('UTF-8')
          list.each do |entry|
            name = Assay.name_of(entry.label)
            if wanted == name
              Assay.answer(name) { Assay.measured(entry, @out || @suite) }
              exit
            end
            Assay.write([Assay.quoted(name)], 'a') unless wanted
            # A script may look at its report: there is one, of once a second.
            create_report(entry.label, 1_000_000, 1, Stats::SD.new([1.0]), 1)
          end
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
