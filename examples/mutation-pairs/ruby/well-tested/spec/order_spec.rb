require_relative "../lib/order"

RSpec.describe Order do
  it "takes the discount off the total" do
    order = Order.new(->(total) { total - 20 }, ->(_) { 0 })
    expect(order.price([[2, 10], [1, 5]])).to eq 20
  end

  it "ships by the number of things" do
    order = Order.new(->(_) { 0 }, ->(weight) { 100 * weight })
    expect(order.price([[2, 10], [1, 5]])).to eq 325
  end
end
