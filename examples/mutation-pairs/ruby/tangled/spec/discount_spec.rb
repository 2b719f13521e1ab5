require_relative "../lib/order"

RSpec.describe Discount do
  it "is there with and without" do
    ORDER[:log].clear
    ORDER[:years] = 2
    expect(Order.checkout([[1, 101]])).to eq 96
    expect(Order.checkout([[21, 10]])).to eq 204
    expect(Order.checkout([[20, 10]])).to eq 185
    ORDER[:years] = 1
    expect(Order.checkout([[2, 100]])).to eq 205
    ORDER[:years] = 3
    expect(Order.checkout([[1, 100]])).to eq 105
    expect { Order.checkout([[0, 5]]) }.to raise_error(ArgumentError, "nothing to ship")
    expect(ORDER[:log].last(5)).to eq %w[discount shipping order discount shipping]
  end
end
