# frozen_string_literal: true

require_relative "spec_helper"

RSpec.describe Posts do
  let(:ann) { account("ann") }
  let(:bob) { account("bob") }

  it "keeps what is written" do
    post = Posts.write(ann, "Title", "Text")
    expect(DB[:posts][id: post]).to include(title: "Title", text: "Text", public: false)
  end

  it "refuses an empty title" do
    expect { Posts.write(ann, " ", "Text") }.to raise_error(Posts::Refused, "no title")
  end

  it "shows a draft to its author" do
    Posts.write(ann, "Draft", "Text")
    expect(Posts.visible(ann).map { |post| post[:title] }).to eq(["Draft"])
  end

  it "shows no draft to others" do
    Posts.write(ann, "Draft", "Text")
    expect(Posts.visible(bob)).to be_empty
  end

  it "shows to all what is public" do
    Posts.publish(Posts.write(ann, "Title", "Text"), ann)
    expect(Posts.visible.size).to eq(1)
  end

  it "publishes for the author only" do
    post = Posts.write(ann, "Title", "Text")
    expect { Posts.publish(post, bob) }.to raise_error(Posts::Refused, "not yours")
  end

  it "removes for the author only" do
    post = Posts.write(ann, "Title", "Text")
    expect { Posts.remove(post, bob) }.to raise_error(Posts::Refused, "not yours")
  end

  it "removes a post" do
    Posts.remove(Posts.write(ann, "Title", "Text"), ann)
    expect(DB[:posts]).to be_empty
  end

  it "removes comments with their post" do
    post, = posts(1, of: ann)
    Posts.remove(post, ann)
    expect(DB[:comments]).to be_empty
  end

  it "keeps the order in which posts were written" do
    posts(5, of: ann, comments: 0)
    expect(Posts.visible.map { |post| post[:title] }).to eq((0..4).map { |number| "Post #{number}" })
  end

  it "keeps posts of several authors apart" do
    posts(3, of: ann, comments: 0)
    posts(2, of: bob, comments: 0)
    expect(DB[:posts].where(account_id: bob).count).to eq(2)
  end
end

RSpec.describe "comments" do
  let(:ann) { account("ann") }
  let(:bob) { account("bob") }

  it "are kept" do
    post, = posts(1, of: ann, comments: 0)
    Posts.comment(post, bob, "Well said")
    expect(Posts.comments(post).map { |comment| comment[:text] }).to eq(["Well said"])
  end

  it "are not taken for drafts" do
    post = Posts.write(ann, "Draft", "Text")
    expect { Posts.comment(post, bob, "Well said") }.to raise_error(Posts::Refused, "not public")
  end

  it "stand in their order" do
    post, = posts(1, of: ann, comments: 6)
    expect(Posts.comments(post).map { |comment| comment[:text][/\d/].to_i }).to eq([0, 1, 2, 3, 4, 5])
  end

  it "belong to their post" do
    first, second = posts(2, of: ann, comments: 2)
    expect(Posts.comments(first).map { |comment| comment[:id] } & Posts.comments(second).map { |comment| comment[:id] }).to be_empty
  end

  it "say who wrote them" do
    post, = posts(1, of: ann, comments: 0)
    Posts.comment(post, bob, "Well said")
    expect(Posts.comments(post).first[:account_id]).to eq(bob)
  end
end
