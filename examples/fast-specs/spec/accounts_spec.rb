# frozen_string_literal: true

require_relative "spec_helper"

RSpec.describe Accounts do
  let(:password) { "long enough" }

  def sign_up_and_confirm
    id, token = Accounts.sign_up("ann@example.org", password)
    Accounts.confirm(token)
    id
  end

  it "signs up with an address and a password" do
    id, = Accounts.sign_up("ann@example.org", password)
    expect(DB[:accounts][id: id]).to include(address: "ann@example.org", confirmed_at: nil)
  end

  it "keeps no password that can be read" do
    Accounts.sign_up("ann@example.org", password)
    expect(DB[:accounts].get(:password)).not_to include(password)
  end

  it "refuses what is no address" do
    expect { Accounts.sign_up("ann", password) }.to raise_error(Accounts::Refused, "no address")
  end

  it "refuses a short password" do
    expect { Accounts.sign_up("ann@example.org", "short") }.to raise_error(Accounts::Refused, "short password")
  end

  it "refuses an address that is known" do
    account("ann")
    expect { Accounts.sign_up("ann@example.org", password) }.to raise_error(Accounts::Refused, "known address")
  end

  it "confirms an address by its token" do
    id = sign_up_and_confirm
    expect(DB[:accounts][id: id][:confirmed_at]).not_to be_nil
  end

  it "refuses a token that is wrong" do
    Accounts.sign_up("ann@example.org", password)
    expect { Accounts.confirm("wrong") }.to raise_error(Accounts::Refused, "no such token")
  end

  it "signs in whoever has confirmed" do
    id = sign_up_and_confirm
    secret = Accounts.sign_in("ann@example.org", password)
    expect(Accounts.of_session(secret)[:id]).to eq(id)
  end

  it "does not sign in who has not confirmed" do
    Accounts.sign_up("ann@example.org", password)
    expect { Accounts.sign_in("ann@example.org", password) }.to raise_error(Accounts::Refused, "not confirmed")
  end

  it "does not sign in with a wrong password" do
    sign_up_and_confirm
    expect { Accounts.sign_in("ann@example.org", "wrong one") }.to raise_error(Accounts::Refused, "wrong password")
  end

  it "signs out" do
    sign_up_and_confirm
    secret = Accounts.sign_in("ann@example.org", password)
    Accounts.sign_out(secret)
    expect(Accounts.of_session(secret)).to be_nil
  end
end
