# frozen_string_literal: true

require_relative "../app"
require "rexml/document"

Schema.make

RSpec.configure do |config|
  config.disable_monkey_patching!
  if ENV["TRANSACTIONS"] == "1"
    # Nothing is ever committed: each test is rolled back.
    config.around { |example| DB.transaction(rollback: :always, auto_savepoint: true) { example.run } }
  else
    # As with a browser in another process, for which all data must be committed.
    config.before { DB.run("TRUNCATE #{Schema::TABLES.join(', ')} RESTART IDENTITY CASCADE") }
  end
end

# An account without a key, since most tests are not about signing up.
def account(name = "ann")
  DB[:accounts].insert(address: "#{name}@example.org", password: "none", confirmed_at: Time.now)
end

# Creates public posts with comments.
def posts(count, of:, comments: 3)
  Array.new(count) do |number|
    Posts.write(of, "Post #{number}", "Text of <number> #{number}. " * 10).tap do |post|
      Posts.publish(post, of)
      comments.times { |index| Posts.comment(post, of, "Comment #{index} & more") }
    end
  end
end

# Returns a page as a browser would see it.
def seen(page) = REXML::Document.new(page)
