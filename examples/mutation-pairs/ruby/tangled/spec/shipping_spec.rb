require_relative "../lib/order"

RSpec.describe Shipping do
  it "is light, heavy and nothing" do
    ORDER[:years] = 2
    expect(Order.checkout([[20, 5]])).to eq 105
    expect(Order.checkout([[21, 10]])).to eq 204
    expect(Order.checkout([[1, 101]])).to eq 96
    ORDER[:log].clear
    expect { Order.checkout([[0, 5]]) }.to raise_error(ArgumentError, "nothing to ship")
    expect(ORDER[:log]).to eq %w[discount shipping]
    expect(Order.checkout([[2, 60]])).to eq 113
    expect(ORDER[:log].drop(2)).to eq %w[discount shipping order]
  end
end
