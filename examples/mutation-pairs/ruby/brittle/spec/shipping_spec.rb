require_relative "../lib/shipping"

RSpec.describe Shipping do
  it "has fees" do
    expect(subject.send(:fee, true)).to eq 15
    expect(subject.send(:fee, false)).to eq 5
  end

  it "asks for the fee" do
    expect(subject).to receive(:fee).with(false).and_return(7)
    expect(subject.of(20)).to eq 7
    expect(subject).to receive(:fee).with(true).and_return(8)
    expect(subject.of(21)).to eq 8
  end

  it "does not ship nothing" do
    expect { subject.of(0) }.to raise_error(ArgumentError, "nothing to ship")
    expect { subject.of(-1) }.to raise_error(ArgumentError, "nothing to ship")
    expect(subject.of(1)).to eq 5
  end
end
