# frozen_string_literal: true

require_relative "spec_helper"

RSpec.describe Pages do
  let(:ann) { account("ann") }

  def found(path, page = Pages.posts) = REXML::XPath.match(seen(page), path)

  it "has no posts at first" do
    expect(found("//li")).to be_empty
  end

  it "has every public post" do
    posts(10, of: ann)
    expect(found("//h2").map(&:text)).to eq((0..9).map { |number| "Post #{number}" })
  end

  it "has every comment" do
    posts(6, of: ann, comments: 5)
    expect(found("//li[@class='comment']").size).to eq(30)
  end

  it "has no drafts of others" do
    posts(3, of: ann)
    Posts.write(ann, "Draft", "Text")
    expect(found("//h2").size).to eq(3)
  end

  it "has one's own drafts" do
    Posts.write(ann, "Draft", "Text")
    expect(found("//h2", Pages.posts(ann)).map(&:text)).to eq(["Draft"])
  end

  it "escapes what is written" do
    Posts.publish(Posts.write(ann, "<script>", "&"), ann)
    expect(Pages.posts).to include("&lt;script&gt;")
  end

  it "leads from a new account to a page with a post" do
    id, token = Accounts.sign_up("bob@example.org", "long enough")
    Accounts.confirm(token)
    secret = Accounts.sign_in("bob@example.org", "long enough")
    posts(15, of: Accounts.of_session(secret)[:id], comments: 4)
    page = seen(Pages.posts(id))
    titles = (0..14).map { |number| REXML::XPath.first(page, "//li/h2[text()='Post #{number}']") }
    expect(titles.compact.size).to eq(15)
  end

  it "has comments below their post" do
    first, = posts(8, of: ann, comments: 3)
    expect(found("//li[@id='post-#{first}']/ol/li").size).to eq(3)
  end
end
