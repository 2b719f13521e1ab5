require_relative "../lib/shipping"

RSpec.describe Shipping do
  it "is cheap for what is light" do
    expect(subject.of(1)).to eq 5
    expect(subject.of(20)).to eq 5
  end

  it "is not for what is heavy" do
    expect(subject.of(21)).to eq 15
  end

  it "does not ship nothing" do
    expect { subject.of(0) }.to raise_error(ArgumentError, "nothing to ship")
    expect { subject.of(-1) }.to raise_error(ArgumentError, "nothing to ship")
  end
end
