require_relative "../lib/order"

RSpec.describe Order do
  subject { Order.new(->(total) { total - 20 }, ->(weight) { 100 * weight }) }

  it "sums" do
    expect(subject.send(:total_of, [[2, 10], [1, 5]])).to eq 25
    expect(subject.send(:weight_of, [[2, 10], [1, 5]])).to eq 3
  end

  it "asks for both sums" do
    allow(subject).to receive(:total_of).and_return(30)
    allow(subject).to receive(:weight_of).and_return(4)
    expect(subject.price([[1, 1]])).to eq 420
  end
end
