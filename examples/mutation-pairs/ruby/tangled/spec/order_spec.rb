require_relative "../lib/order"

RSpec.describe Order do
  it "takes one order after the other" do
    ORDER[:log].clear
    ORDER[:years] = 1
    expect(Order.checkout([[1, 190]])).to eq 195
    ORDER[:years] = 2
    expect(Order.checkout([[2, 100]])).to eq 185
    expect(Order.checkout([[4, 25]])).to eq 105
    expect(Order.checkout([[20, 6]])).to eq 113
    expect(Order.checkout([[21, 10]])).to eq 204
    expect(ORDER[:log]).to eq %w[discount shipping order] * 5
    expect { Order.checkout([[0, 5]]) }.to raise_error(ArgumentError, "nothing to ship")
  end

  it "calls everything in this order" do
    expect(Discount).to receive(:apply).ordered
    expect(Shipping).to receive(:add).ordered
    Order.checkout([[1, 2]])
  end
end
