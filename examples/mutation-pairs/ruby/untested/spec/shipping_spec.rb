require_relative "../lib/shipping"

RSpec.describe Shipping do
  it "ships what is light" do
    expect(subject.of(1)).not_to be_nil
  end

  it "ships what is heavy" do
    subject.of(30)
  end
end
