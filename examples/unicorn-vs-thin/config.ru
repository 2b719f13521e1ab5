# frozen_string_literal: true

# Three pages: / is plain, /wait waits 20 ms as if for a slow service, /query runs an expensive query
# in PostgreSQL (socket directory in PGHOST).

QUERY = <<~SQL
  SELECT customers.name, count(*), sum(orders.amount), percentile_cont(0.9) WITHIN GROUP (ORDER BY orders.amount)
  FROM orders JOIN customers ON customers.id = orders.customer
  WHERE orders.day BETWEEN $1::int AND $1::int + 60 AND customers.region = $2
  GROUP BY customers.name ORDER BY 3 DESC LIMIT 20
SQL

# Each process connects on first use, since forked workers must not share a connection.
def postgres
  @postgres ||= begin
    require "pg"
    PG.connect(dbname: "postgres", user: "postgres").tap { |connection| connection.prepare("best", QUERY) }
  end
end

def page(path)
  case path
  when "/wait" then sleep(0.02) && "waited\n"
  when "/query" then postgres.exec_prepared("best", [rand(300), rand(5)]).values.map { |row| row.join(" ") }.join("\n")
  else "hello\n"
  end
end

run lambda { |env|
  text = page(env["PATH_INFO"])
  [200, { "content-type" => "text/plain", "content-length" => text.bytesize.to_s }, [text]]
}
