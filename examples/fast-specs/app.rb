# frozen_string_literal: true

# A small typical application of the time: accounts that confirm an address, posts with comments,
# pages. DATABASE_URL names its database; tokens are signed with keys derived by PBKDF2, with the
# number of iterations that Devise used in 2013.

require "cgi"
require "erb"
require "openssl"
require "securerandom"
require "sequel"

DB = Sequel.connect(ENV.fetch("DATABASE_URL"), single_threaded: true)

# Creates the tables.
module Schema
  TABLES = %i[comments posts sessions accounts].freeze

  def self.make
    DB.drop_table?(*TABLES)
    DB.create_table(:accounts) do
      primary_key :id
      String :address, null: false, unique: true
      String :password, null: false
      String :token
      Time :confirmed_at
    end
    DB.create_table(:sessions) do
      primary_key :id
      foreign_key :account_id, :accounts, null: false
      String :secret, null: false
    end
    DB.create_table(:posts) do
      primary_key :id
      foreign_key :account_id, :accounts, null: false
      String :title, null: false
      String :text, null: false
      TrueClass :public, default: false
    end
    DB.create_table(:comments) do
      primary_key :id
      foreign_key :post_id, :posts, null: false
      foreign_key :account_id, :accounts, null: false
      String :text, null: false
    end
  end
end

# Keys for signed and stored values.
module Keys
  ITERATIONS = 65_536

  def self.derived(secret, salt) = OpenSSL::PKCS5.pbkdf2_hmac_sha1(secret, salt, ITERATIONS, 64).unpack1("H*")
  def self.signed(token) = OpenSSL::HMAC.hexdigest("SHA256", derived("secret of the application", "confirmation"), token)
end

# Accounts: sign-up, confirmation of an address, sign-in.
module Accounts
  Refused = Class.new(StandardError)

  def self.sign_up(address, password)
    raise Refused, "no address" unless address.match?(/\A[^@\s]+@[^@\s]+\z/)
    raise Refused, "short password" if password.size < 8

    token = SecureRandom.hex(8)
    salt = SecureRandom.hex(8)
    kept = "#{salt}$#{Keys.derived(password, salt)}"
    id = DB[:accounts].insert(address: address, password: kept, token: Keys.signed(token))
    [id, token]
  rescue Sequel::UniqueConstraintViolation
    raise Refused, "known address"
  end

  def self.confirm(token)
    found = DB[:accounts].where(token: Keys.signed(token))
    raise Refused, "no such token" if found.update(token: nil, confirmed_at: Time.now).zero?
  end

  def self.sign_in(address, password)
    account = DB[:accounts].first(address: address) or raise Refused, "unknown"
    raise Refused, "not confirmed" unless account[:confirmed_at]

    salt, kept = account[:password].split("$")
    raise Refused, "wrong password" unless Keys.derived(password, salt) == kept

    SecureRandom.hex(16).tap { |secret| DB[:sessions].insert(account_id: account[:id], secret: secret) }
  end

  def self.of_session(secret) = DB[:accounts].where(id: DB[:sessions].where(secret: secret).select(:account_id)).first
  def self.sign_out(secret) = DB[:sessions].where(secret: secret).delete
end

# Posts and comments of accounts.
module Posts
  Refused = Class.new(StandardError)

  def self.write(account, title, text)
    raise Refused, "no title" if title.strip.empty?

    DB[:posts].insert(account_id: account, title: title, text: text)
  end

  def self.publish(post, account)
    changed = DB[:posts].where(id: post, account_id: account).update(public: true)
    raise Refused, "not yours" if changed.zero?
  end

  def self.remove(post, account)
    raise Refused, "not yours" if DB[:posts].where(id: post, account_id: account).empty?

    DB[:comments].where(post_id: post).delete
    DB[:posts].where(id: post).delete
  end

  def self.comment(post, account, text)
    raise Refused, "not public" unless DB[:posts].where(id: post).get(:public)

    DB[:comments].insert(post_id: post, account_id: account, text: text)
  end

  def self.visible(account = nil) = DB[:posts].where(Sequel.|({ public: true }, { account_id: account })).order(:id).all
  def self.comments(post) = DB[:comments].where(post_id: post).order(:id).all
end

# The pages, as text.
module Pages
  POSTS = ERB.new(<<~HTML, trim_mode: "-")
    <html><head><title>Posts</title></head><body><ul class="posts">
    <%- posts.each do |post| -%>
    <li id="post-<%= post[:id] %>"><h2><%= h(post[:title]) %></h2><p><%= h(post[:text]) %></p>
    <ol><%- Posts.comments(post[:id]).each do |comment| -%><li class="comment"><%= h(comment[:text]) %></li><%- end -%></ol></li>
    <%- end -%>
    </ul></body></html>
  HTML

  def self.posts(account = nil)
    posts = Posts.visible(account)
    POSTS.result(binding)
  end

  def self.h(text) = CGI.escapeHTML(text)
end
