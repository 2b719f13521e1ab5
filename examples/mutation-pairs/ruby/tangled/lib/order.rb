require_relative "discount"
require_relative "shipping"

class Order
  def self.checkout(lines)
    ORDER[:lines] = lines
    ORDER[:total] = lines.sum { |count, each| count * each }
    Discount.apply
    Shipping.add
    ORDER[:log] << "order"
    ORDER[:total]
  end
end
