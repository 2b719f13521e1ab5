# frozen_string_literal: true

# A temporary MariaDB for tests, to be used as its user root. Free of assertions.

require_relative "../../../examples/request-totals/servers"

module Servers
  class Mariadb < Server
    PROGRAM = [*ENV["PATH"].split(":"), "/usr/sbin"].map { |path| "#{path}/mariadbd" }.find { |file| File.executable?(file) }

    private

    # Without system tables, which take seconds to create.
    def start
      Dir.mkdir(data = File.join(directory, "data"))
      user = Process.uid.zero? ? ["--user=root"] : []
      quick = %w[--skip-grant-tables --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=16M --innodb-log-file-size=8M]
      spawn(PROGRAM, "--no-defaults", "--datadir=#{data}", "--socket=#{directory}/socket", "--pid-file=#{directory}/pid",
            "--bind-address=127.0.0.1", "--port=#{port}", *quick, *user, %i[out err] => said)
    end
  end
end
