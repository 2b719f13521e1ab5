# frozen_string_literal: true

# The process that `assay` starts and sends requests to. It loads nothing itself: it creates the
# first stage, has later ones remade, passes runs to the last one, and ends all of them when it
# ends.

module AssayWarm
  # A stage as known to the keeper. `files` are those that it was the first to load or read;
  # `listed` are those in directories that it was the first to list.
  Known = Struct.new(:pid, :link, :name, :files, :listed, :features, :seconds, :notes, :ready, :runs, keyword_init: true)
  # A client and what has been read of its request.
  Asking = Struct.new(:io, :given, :text, :run, :pid)

  # See the head of this file.
  class Keeper
    # Time within which a run must begin, in seconds.
    PATIENCE = 10
    # Number of deaths after which a stage that was never ready is not remade until something
    # changes.
    DEATHS = 3
    # Maximum number of restarts because of files with side effects when loaded.
    AGAIN = 20
    WHOLE_COMMAND = %w[Gemfile Gemfile.lock gems.rb gems.locked .ruby-version].freeze

    def initialize(life)
      AssayCoverage.top(ROOT, HERE)
      @life = life
      @stages = []
      @loading = nil
      @retired = []
      @asking = []
      @waiting = []
      @number = @generation = 0
      @failure = nil
      @deaths = @again = 0
      @server = nil
    end

    # Returns in the children that continue with the command.
    def run
      before = File.umask(0o077)
      begin
        @calls = UNIXServer.new(CALLS)
      ensure
        File.umask(before)
      end
      @restore = AssayWarm.signals("INT" => "IGNORE", "TERM" => proc { leave })
      return if first == :stage

      loop do
        # Messages of a stage are handled before those of its child.
        io, = IO.select([*links.map(&:io), @calls, @server, @life, *@asking.map(&:io)].compact, nil, nil, patience)
        late
        io&.each do |each|
          case each
          when @life then leave
          when @calls then called
          when @server then @asking << Asking.new(@server.accept, [], +"")
          else other(each)
          end
          return if @is_child # rubocop:disable Lint/NonLocalExitFromIterator
        end
      end
    rescue StandardError => e
      raise if @is_child

      warn("assay: the process that keeps the command loaded failed: #{e.class}: #{e.message} (#{e.backtrace&.first})")
      leave(1)
    end

    private

    # Starts the command from its beginning.
    def first
      @loading_at = 0
      pid = fork
      unless pid
        @is_child = true
        @life.autoclose = true if @life
        [@calls, @server, @life, *links.map(&:io), *@asking.map(&:io)].compact.each(&:close)
        # Clients wait until all copies of their output descriptors are closed.
        [*@asking, *@waiting].uniq.each { |asking| close_given(asking) }
        @restore.call
        return :stage
      end
      @loading = Known.new(pid: pid)
      Process.detach(pid)
      :keeper
    end

    def links
      [*@stages, @loading, *@retired].compact.map(&:link).compact
    end

    def patience
      @starting&.any? || @loading && @loading.link.nil? && @loading.pid ? 1 : nil
    end

    def called
      link = Link.new(@calls.accept)
      kind, pid, index, number = link.hear
      # Note: a stage that continues loading names the order (`@generation`) that it follows, so
      # that an outdated one is ended.
      is_wanted = index == 0 ? @loading.nil? || @loading.pid.nil? || @loading.pid == pid : number == @generation
      # A stage that was abandoned in the meantime.
      return link.close unless kind == :hello && index == @stages.size && is_wanted

      link.say(:number, @generation)
      @loading = Known.new(pid: pid, link: link, runs: {})
    end

    def other(io)
      stage = [*@stages, @loading, *@retired].compact.find { |each| each.link && each.link.io.equal?(io) }
      return stage_said(stage) if stage

      asking = @asking.find { |each| each.io.equal?(io) }
      asked(asking) if asking
    end

    # --- Messages from stages.

    def stage_said(stage)
      message = stage.link.hear
      return stage_gone(stage) unless message

      case message[0]
      when :parked then parked(stage, message[1])
      when :failed
        @failure = message[1]
        refuse_waiting
      when :anew
        # Something was loaded that should not have been: start from the beginning, since a stage
        # may be waiting in the middle of it.
        return unless stage.equal?(@loading)

        (@again += 1) > AGAIN ? (@failure = "files of the project print when they are loaded") && refuse_waiting : remake(0)
      when :began then began(stage, *message[1..-1])
      when :refused then answered(stage, message[1], {refused: message[2]})
      when :ended then ended(stage, *message[1..-1])
      end
    end

    def parked(stage, said)
      return unless stage.equal?(@loading)

      said.each { |name, value| stage[name] = value if stage.members.include?(name) }
      @seen = said[:seen] if said.key?(:seen)
      @stages << stage
      @loading = nil
      return unless stage.ready

      @deaths = @again = 0
      @failure = nil
      @all = @stages.map(&:files).inject(:merge)
      open_server
      @waiting.shift(@waiting.size).each { |asking| start_run(asking) }
    end

    def open_server
      return if @server

      before = File.umask(0o077)
      made = "#{SOCKET}.new"
      File.delete(made) if File.exist?(made)
      @server = UNIXServer.new(made)
      # The socket appears only once it accepts connections.
      File.rename(made, SOCKET)
    ensure
      File.umask(before) if before
    end

    def stage_gone(stage)
      stage.link.close
      # It may have executed another program, which connects again.
      return stage.link = nil if stage.equal?(@loading) && alive?(stage.pid)

      end_runs(stage)
      return @retired.delete(stage) if @retired.include?(stage)

      at = stage.equal?(@loading) ? @stages.size : @stages.index(stage)
      @loading = nil if stage.equal?(@loading)
      @failure ||= "the process died #{@deaths} times while it was loaded, or while it waited" if (@deaths += 1) >= DEATHS
      if @failure
        drop(at)
        open_server
        return refuse_waiting
      end
      remake(at)
    end

    def alive?(pid)
      !File.read("/proc/#{pid}/stat")[/.*\) (\w)/, 1].match?(/[ZX]/)
    rescue SystemCallError
      false
    end

    # Runs that have not begun wait for another stage.
    def end_runs(stage)
      stage.runs.to_h.each do |number, asking|
        @starting&.delete(number)
        next @waiting << asking unless asking.pid

        kill(-asking.pid)
        say(asking, {signal: 9})
        forget(asking)
      end
      stage.runs&.clear
    end

    def began(stage, number, pid)
      asking = stage.runs[number] or return kill(-pid)
      asking.pid = pid
      @starting&.delete(number)
      close_given(asking)
      say(asking, {pid: pid})
    end

    def ended(stage, number, status, signal)
      answered(stage, number, signal ? {signal: signal} : {exit: status})
      learned
    end

    def answered(stage, number, answer)
      @starting&.delete(number)
      asking = stage.runs.delete(number) or return
      say(asking, answer)
      forget(asking)
    end

    # A run has loaded files that no stage has.
    def learned
      now = Seen.read
      return if @failure || @loading || @seen == now

      @seen = now
      remake(0)
    end

    def late
      gone = @loading && @loading.link.nil? && @loading.pid && !alive?(@loading.pid)
      if gone
        @failure ||= "the command ended before its program began"
        drop(@stages.size)
        open_server
        refuse_waiting
      end
      @starting&.each do |number, (since, stage)|
        next if AssayWarm.now - since < PATIENCE

        @starting.delete(number)
        kill(stage.pid)
      end
    end

    # --- Remaking stages.

    # Remakes the stages from this index on.
    def remake(at)
      @generation += 1
      drop(at)
      @failure = nil
      return first if at.zero?

      @loading = Known.new
      begin
        @stages.last.link.say(:go, AssayWarm.changed, @generation)
      rescue SystemCallError
        # The stage is gone, which is handled later.
        nil
      end
    end

    def drop(at)
      gone = @stages.slice!(at..-1) || []
      gone << @loading if @loading
      @loading = nil
      gone.each do |stage|
        if stage.runs.to_h.empty?
          kill(stage.pid) if stage.pid
          stage.link&.close
        else
          @retired << stage
          begin
            stage.link.say(:retire)
          rescue SystemCallError
            nil
          end
        end
      end
    end

    # --- Requests.

    def asked(asking)
      return gave(asking) if asking.given.size < 3 && asking.text.empty? && asking.io.recv(1, Socket::MSG_PEEK) != "{"

      asking.text << asking.io.read_nonblock(1 << 16)
      while (line = asking.text.slice!(/\A[^\n]*\n/))
        answer(asking, Json.read(line.force_encoding(Encoding::UTF_8)))
        return if @is_child
      end
    rescue IO::WaitReadable
      nil
    rescue SystemCallError, IOError
      hung_up(asking)
    rescue StandardError => e
      raise if @is_child

      say(asking, {refused: "this can't be answered: #{e.message}"})
      forget(asking)
    end

    def gave(asking)
      # At the end of the stream the byte is missing.
      return hung_up(asking) if asking.io.recv(1, Socket::MSG_PEEK).to_s.empty?

      asking.given << asking.io.recv_io(nil)
    end

    # The client is gone.
    def hung_up(asking)
      kill(-asking.pid) if asking.pid
      forget(asking)
    end

    def answer(asking, question)
      if (run = question["run"])
        asking.run = run
        start_run(asking)
      elsif (paths = question["changed"])
        changed(asking, paths)
      elsif (wanted = question["state"]) then say(asking, state(wanted == "quick"))
      elsif question["stop"] then leave
      else say(asking, {refused: "not known: #{question.keys.join(", ")}"})
      end
    end

    def start_run(asking)
      stage = @stages.last
      if @failure
        say(asking, {refused: @failure})
        forget(asking)
      elsif loading? then @waiting << asking
      elsif asking.given.size != 3
        say(asking, {refused: "a run needs three descriptors"})
        forget(asking)
      else
        stage.runs[@number += 1] = asking
        (@starting ||= {})[@number] = [AssayWarm.now, stage]
        begin
          stage.link.say(:run, @number, asking.run)
          asking.given.each { |descriptor| stage.link.io.send_io(descriptor) }
        rescue SystemCallError
          # The stage is gone, which is handled later; a run that has not begun waits for another
          # stage.
          nil
        end
      end
    end

    def changed(asking, paths)
      own = paths.map { |path| AssayCoverage.within(path) }.compact
      AssayWarm.changed = (paths | AssayWarm.changed).first(LAST_CHANGED)
      at = @stages.index { |stage| own.any? { |path| stage.files.include?(path) } } || @stages.index { |stage| own.any? { |path| listed?(stage, path) } }
      at = 0 if own.any? { |path| WHOLE_COMMAND.include?(path) }
      # The loading stage may have read an old version, and a failed one may now succeed.
      at ||= @stages.size if @failure || loading? && (@all.nil? || own.any? { |path| @all.include?(path) })
      name = at && (@stages[at]&.name || "application")
      say(asking, {stage: name})
      return unless at

      @deaths = @again = 0
      remake(at)
    end

    # Returns true if a stage without this file may be affected by it: it listed a directory in
    # order to load its files, and the file was added or removed since.
    def listed?(stage, path)
      return false unless path.end_with?(".rb") && !path.match?(Run::TESTS) && stage.listed.key?(path) != File.file?(File.join(ROOT, path))

      folder = File.dirname(path)
      stage.files.include?("#{folder}/") ||
        stage.files.keys.any? { |each| each.end_with?("/**/") && (each == "./**/" || "#{folder}/".start_with?(each.delete_suffix("**/"))) }
    end

    # Also true while a new stage has not connected yet.
    def loading?
      !@loading.nil? || !@stages.last&.ready
    end

    def state(is_quick)
      stages = @stages.map do |stage|
        about = {name: stage.name, pid: stage.pid, files: stage.features, seconds: stage.seconds.round(6)}
        is_quick ? about : about.merge(memory: memory(stage.pid))
      end
      notes = [*@stages.flat_map(&:notes), *@failure].uniq
      loaded = @stages.flat_map { |stage| stage.files.keys }.reject { |path| path.end_with?("/") }.map { |path| File.join(ROOT, path) }
      {version: 1, ready: !loading? && !@failure, stages: stages, notes: notes, loaded: loaded}
    end

    # Returns the process's proportional share of memory, in bytes.
    def memory(pid)
      File.read("/proc/#{pid}/smaps_rollup")[/^Pss:\s+(\d+)/, 1].to_i * 1024
    rescue SystemCallError
      0
    end

    def refuse_waiting
      @waiting.shift(@waiting.size).each do |asking|
        say(asking, {refused: @failure})
        forget(asking)
      end
    end

    def say(asking, answer)
      asking.io.write("#{Json.write(answer)}\n")
    rescue SystemCallError, IOError
      nil
    end

    def forget(asking)
      @asking.delete(asking)
      @waiting.delete(asking)
      [*@stages, *@retired].each { |stage| stage.runs.delete_if { |_, each| each.equal?(asking) } }
      close_given(asking)
      asking.io.close
    rescue IOError
      nil
    end

    def close_given(asking)
      asking.given.each { |descriptor| IO.for_fd(descriptor).close }
      asking.given = []
    end

    def kill(pid)
      Process.kill(:KILL, pid)
    rescue SystemCallError
      nil
    end

    # Stages are killed before runs, so that no new run begins; all are killed without waiting.
    def leave(status = 0)
      all = [*@stages, @loading, *@retired].compact
      all.each { |stage| kill(stage.pid) if stage.pid }
      all.each { |stage| stage.runs&.each_value { |asking| kill(-asking.pid) if asking.pid } }
      [SOCKET, CALLS].each { |path| File.unlink(path) if File.exist?(path) }
    ensure
      exit!(status)
    end
  end
end
