require_relative "../lib/discount"

RSpec.describe Discount do
  it "works for old customers" do
    subject.of(200, 5)
  end

  it "works for new customers" do
    expect(subject.of(200, 1)).not_to be_nil
  end
end
