class Order
  def initialize(discount, shipping)
    @discount = discount
    @shipping = shipping
  end

  def price(lines)
    total = lines.sum { |count, each| count * each }
    weight = lines.sum { |count, _| count }
    total - @discount.call(total) + @shipping.call(weight)
  end
end
