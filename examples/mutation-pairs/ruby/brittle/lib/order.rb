class Order
  def initialize(discount, shipping)
    @discount = discount
    @shipping = shipping
  end

  def price(lines)
    total = total_of(lines)
    total - @discount.call(total) + @shipping.call(weight_of(lines))
  end

  private

  def total_of(lines)
    lines.sum { |count, each| count * each }
  end

  def weight_of(lines)
    lines.sum { |count, _| count }
  end
end
