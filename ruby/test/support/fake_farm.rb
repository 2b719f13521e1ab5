# frozen_string_literal: true

# A farm's server in memory, with the part of docs/reference/farm-api.md that the gem uses:
# sufficient to test the gem without the program, and to give answers that no real server would
# give. Free of assertions.

require "json"
require "socket"

class FakeFarm
  NAME = /\A[A-Za-z0-9._-]+\z/
  STATUSES = { "bad_request" => 400, "unauthorized" => 401, "forbidden" => 403, "not_found" => 404, "conflict" => 409, "too_large" => 413,
               "too_many" => 429, "wrong_version" => 400, "unavailable" => 503, "internal" => 500 }.freeze
  Refused = Class.new(StandardError)

  # The received requests: method, path with the query, and headers.
  attr_reader :requests
  # Called first with method, path and headers; returns status, headers and body, or nil to continue
  # as usual.
  attr_accessor :instead

  def initialize(page: 2)
    @page = page
    @requests = []
    @owners, @projects, @versions, @targets, @builds = Array.new(5) { {} }
    @socket = TCPServer.new("127.0.0.1", 0)
    @connections = []
    @thread = Thread.new { serve }
    @thread.report_on_exception = false
  end

  def address = "http://127.0.0.1:#{@socket.addr[1]}"

  # Number of connections opened so far.
  def opened = @connections.size

  def stop
    @thread.kill.join
    [@socket, *@connections].each { |socket| socket.close unless socket.closed? }
  end

  # Closes all connections, like a server that is restarted.
  def hang_up = @connections.each(&:close)

  private

  def serve
    loop do
      connection = @socket.accept
      @connections << connection
      Thread.new do
        nil while answered(connection)
      rescue IOError, SystemCallError
        nil # Closing it was the client's task.
      ensure
        connection.close unless connection.closed?
      end
    end
  end

  def answered(connection)
    line = connection.gets or return
    method, path, = line.split
    headers = {}
    while (header = connection.gets.chomp) != ""
      name, value = header.split(": ", 2)
      headers[name.downcase] = value
    end
    body = connection.read(headers["content-length"].to_i)
    @requests << [method, path, headers]
    status, more, text = @instead&.call(method, path, headers) || usual(method, path, headers, body)
    more = { "Content-Length" => text.bytesize, "Assay-Api" => "1" }.merge(more).compact
    connection.write("HTTP/1.1 #{status} Word\r\n#{more.map { |name, value| "#{name}: #{value}\r\n" }.join}\r\n#{text}")
    true
  end

  def usual(method, path, headers, body)
    path, query = path.split("?", 2)
    query = query.to_s.split("&").to_h { |pair| pair.split("=", 2).map { |text| unescaped(text) } }
    segments = path.delete_prefix("/api/v1").split("/").drop(1).map { |text| unescaped(text) }
    refuse("wrong_version", "only 1 is served") unless [nil, "1"].include?(headers["assay-api"])
    return [200, {}, JSON.generate(tool: "assay-farm 0.1.0", api: 1, time: "2026-01-01T00:00:00Z")] if segments.empty?

    allow(method, headers["authorization"])
    return [200, {}, JSON.generate(add_log(segments[1], body, query["offset"].to_i))] if method == "PUT" && segments.last == "log"

    found, status = method == "PUT" ? put(segments, JSON.parse(body)) : [get(segments, query), 200]
    return [200, { "Content-Type" => "text/plain" }, found] if found.is_a?(String)

    [status, {}, JSON.generate(shown(found))]
  rescue Refused => e
    code, message = e.message.split(": ", 2)
    [STATUSES.fetch(code), code == "too_many" ? { "Retry-After" => "7" } : {}, JSON.generate(error: { code: code, message: message })]
  end

  # Without the contents of logs, which have a separate path.
  def shown(found)
    case found
    when Hash then found.except(:log).transform_values { |value| shown(value) }
    when Array then found.map { |value| shown(value) }
    else found
    end
  end

  def unescaped(text) = text.gsub(/%(\h\h)/) { $1.hex.chr }.force_encoding(Encoding::UTF_8)

  def refuse(code, message) = raise(Refused, "#{code}: #{message}")

  def allow(method, authorization)
    case authorization
    when "Bearer submitter" then nil
    when "Bearer reader" then refuse("forbidden", "the token reads only") unless method == "GET"
    else refuse("unauthorized", "the token is not known")
    end
  end

  def put(segments, body)
    case segments
    in ["owners", owner] then added(@owners, owner, { name: named(owner) })
    in ["owners", owner, "projects", project]
      there(@owners, owner)
      added(@projects, [owner, project], { owner: owner, name: named(project), **body.transform_keys(&:to_sym) }, changes: true)
    in ["owners", owner, "projects", project, "versions", version]
      there(@projects, [owner, project])
      added(@versions, [owner, project, version], { owner: owner, project: project, name: version, is_gone: false, **body.transform_keys(&:to_sym) })
    in ["targets", digest] then added(@targets, digest, { digest: digest, **body.transform_keys(&:to_sym) })
    in ["builds", key]
      there(@versions, body.values_at("owner", "project", "version"))
      there(@targets, body["target"])
      added(@builds, key, { key: key, job: nil, added: "2026-01-01T00:00:00Z", log_bytes: 0, has_samples: false, log: +"".b, **body.transform_keys(&:to_sym) })
    end
  end

  def add_log(key, bytes, offset)
    log = there(@builds, key)[:log]
    refuse("conflict", "there are #{log.bytesize} bytes") if offset > log.bytesize
    log << bytes if offset == log.bytesize
    @builds[key][:log_bytes] = log.bytesize
    { bytes: log.bytesize }
  end

  def named(name) = name.match?(NAME) ? name : refuse("bad_request", "#{name} is no name")

  def added(all, key, fields, changes: false)
    status = all.key?(key) ? 200 : 201
    all[key] = { id: all.key?(key) ? all[key][:id] : all.size + 1, **fields } if status == 201 || changes
    [all[key], status]
  end

  def there(all, key) = all[key] || refuse("not_found", "there is no #{Array(key).join("/")}")

  def get(segments, query)
    case segments
    in ["owners"] then list(@owners.values, query)
    in ["owners", owner] then there(@owners, owner)
    in ["owners", owner, "projects"] then list(@projects.values.select { |found| found[:owner] == owner }, query)
    in ["owners", owner, "projects", project] then there(@projects, [owner, project])
    in ["owners", owner, "projects", project, "versions"]
      list(@versions.values.select { |found| found.values_at(:owner, :project) == [owner, project] }, query)
    in ["owners", owner, "projects", project, "versions", version] then there(@versions, [owner, project, version])
    in ["targets"] then list(@targets.values, query)
    in ["targets", digest] then there(@targets, digest)
    in ["builds"] then list(builds(query), query)
    in ["builds", id] then build(id)
    in ["builds", id, "log"] then build(id)[:log].byteslice(query["offset"].to_i..)
    else refuse("not_found", "there is no such path")
    end
  end

  def build(id) = @builds.values.find { |found| found[:id].to_s == id } || refuse("not_found", "there is no build #{id}")

  def builds(query)
    wanted = query.slice("owner", "project", "version", "target").transform_keys(&:to_sym)
    @builds.values.select { |found| found >= wanted && [nil, found[:outcome]["state"]].include?(query["state"]) }
  end

  def list(all, query)
    from = query["after"].to_i
    { items: all[from, @page], next: from + @page < all.size ? (from + @page).to_s : nil }
  end
end
