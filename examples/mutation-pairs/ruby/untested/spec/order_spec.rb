require_relative "../lib/order"

RSpec.describe Order do
  it "has a price" do
    expect(Order.new(->(_) { 0 }, ->(_) { 1 }).price([[2, 10]])).to be_truthy
  end
end
