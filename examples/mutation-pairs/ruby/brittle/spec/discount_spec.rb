require_relative "../lib/discount"

RSpec.describe Discount do
  it "has rates" do
    expect(subject.send(:rate, 200, 5)).to eq 10
    expect(subject.send(:rate, 101, 2)).to eq 10
    expect(subject.send(:rate, 200, 1)).to eq 0
    expect(subject.send(:rate, 100, 5)).to eq 0
  end

  it "asks for the rate once" do
    expect(subject).to receive(:rate).with(55, 3).once.and_return(10)
    expect(subject.of(55, 3)).to eq 5
  end
end
