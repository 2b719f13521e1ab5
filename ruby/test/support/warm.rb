# frozen_string_literal: true

# A preloaded command, and a client that sends requests like `assay`. Free of assertions.

require "socket"
require_relative "suites"

class Warm
  # The result of a run; `refused` if it was not started.
  Ran = Struct.new(:pid, :out, :ended, :refused, keyword_init: true) do
    def exit = ended["exit"]
  end

  attr_reader :project, :pid, :socket

  # `files` are those of a project, whose directory is the working directory of the block.
  def self.of(files, *command, hooks: Suites::HOOKS)
    Dir.mktmpdir do |directory|
      directory = File.realpath(directory)
      warm = new(directory, hooks)
      files.each { |name, text| warm.write(name, text) }
      warm.start(*command)
      yield warm
    ensure
      warm&.leave
    end
  end

  def initialize(directory, hooks)
    @directory = directory
    @hooks = hooks
    @project = File.join(directory, "project")
    @socket = File.join(directory, "socket")
  end

  def write(name, text)
    FileUtils.mkdir_p(File.dirname(path = File.join(@project, name)))
    File.write(path, text)
    path
  end

  def start(*command)
    own = command.first.is_a?(Hash) ? command.shift : {}
    given, @life = IO.pipe
    env = {"RUBYOPT" => "-r#{@hooks}/assay_warm.rb", "ASSAY_WARM" => "path:#{@socket}", "ASSAY_WARM_ROOT" => "path:#{@project}",
           "ASSAY_WARM_SEEN" => "path:#{@directory}/seen", "ASSAY_WARM_LIFE" => given.fileno.to_s}
    @pid = spawn(env.merge(own), *command, given => given, in: File::NULL, [:out, :err] => log, chdir: @project)
    given.close
    till("ready") { File.exist?(@socket) }
  end

  def log = "#{@directory}/log"
  def seen = File.exist?("#{@directory}/seen") ? File.read("#{@directory}/seen") : ""

  def ask(question)
    UNIXSocket.open(@socket) do |socket|
      socket.puts(JSON.generate(question))
      answer = socket.gets
      answer && JSON.parse(answer)
    end
  end

  def state = ask({state: true})
  def changed(*names) = ask({changed: names.map { |name| File.join(@project, name) }})["stage"]

  # Requests a run; returns its socket, the first answer, and the pipe of its output.
  def begin(*argv, env: {}, cwd: @project, input: "", merge: true, **more)
    out, prints = IO.pipe
    given = File.join(@directory, "input")
    File.write(given, input)
    socket = UNIXSocket.new(@socket)
    File.open(given) { |file| [file, prints, merge ? prints : File.open(File::NULL, "w")].each { |io| socket.send_io(io) } }
    socket.puts(JSON.generate({run: {argv: argv, env: ENV.to_h.reject { |name,| name.start_with?("ASSAY_") }.merge(env), cwd: cwd, **more}}))
    prints.close
    [socket, JSON.parse(socket.gets), out]
  end

  def run(*argv, **options)
    socket, said, out = self.begin(*argv, **options)
    return Ran.new(refused: said["refused"]) unless said["pid"]

    text = out.read
    Ran.new(pid: said["pid"], out: text, ended: JSON.parse(socket.gets))
  ensure
    [socket, out].compact.each(&:close)
  end

  # Runs once, and waits until the modules that it recorded are loaded.
  def learn(*argv, **options)
    ran = run(*argv, **options)
    loaded
    ran
  end

  def loaded
    till("loaded what was seen") { (now = state)["ready"] && now["stages"].last["name"] != "framework" }
  end

  def till(what, seconds = 60)
    (seconds * 100).times { yield ? (return true) : sleep(0.01) }
    raise("not #{what} within #{seconds} s: #{File.read(log)}")
  end

  def processes = state["stages"].map { |stage| stage["pid"] } << @pid

  def leave
    return unless @pid

    @life.close
    Process.wait(@pid)
    @pid = nil
  end

  def self.alive?(pid) = File.exist?("/proc/#{pid}") && !File.read("/proc/#{pid}/stat").match?(/\) Z /)
end
