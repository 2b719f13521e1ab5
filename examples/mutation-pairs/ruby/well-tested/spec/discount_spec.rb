require_relative "../lib/discount"

RSpec.describe Discount do
  it "is a tenth for large orders of old customers" do
    expect(subject.of(200, 5)).to eq 20
    expect(subject.of(101, 2)).to eq 10
  end

  it "is nothing for new customers" do
    expect(subject.of(200, 1)).to eq 0
  end

  it "is nothing for small orders" do
    expect(subject.of(100, 5)).to eq 0
    expect(subject.of(50, 5)).to eq 0
  end
end
